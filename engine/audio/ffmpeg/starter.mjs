/**
 * The process from which start.ts starts programs. Requests are `{ id, command, args, cwd }`. Answers are `{ id, pid }` with the program's
 * standard output, `{ id, text }` from its standard error, and at last `{ id, code, signal }` or `{ id, failure }`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const LOOK_MS = 1000;

const answer = (message, handle) => new Promise((sent) => process.send(message, handle, sent));

/** One request at a time: a handle that had to wait for another one could lose output, because Node reads what a program left when it exits. */
let turn = Promise.resolve();
process.on('message', (request) => {
  turn = turn.then(() => start(request)).catch(({ message }) => answer({ id: request.id, failure: message }));
});
process.on('disconnect', () => process.exit());
setInterval(() => process.connected || process.exit(), LOOK_MS); // no 'disconnect' comes if the engine is killed before it has taken a handle
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {}); // sent to the process group; the engine ends this process

async function start({ id, command, args, cwd }) {
  const child = spawn(command, args, { cwd, env: {}, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const exited = once(child, 'exit').catch((error) => [null, null, error.message]);
  if (child.pid === undefined) return exited.then(([, , failure]) => answer({ id, failure }));
  void tell(id, child.stderr).then(async () => {
    const [code, signal] = await exited;
    await answer({ id, code, signal });
  });
  child.stdout._handle.readStop(); // Node would read, and drop, what is written before the other process has the handle
  await answer({ id, pid: child.pid }, child.stdout);
}

/** Passes text on, no faster than it is taken. */
async function tell(id, stream) {
  for await (const text of stream.setEncoding('utf8')) await answer({ id, text });
}
