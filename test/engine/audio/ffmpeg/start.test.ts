import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { start } from '../../../../engine/audio/ffmpeg/start.ts';
import { Starter } from '../../../../engine/audio/ffmpeg/starter.ts';

const starter = new Starter();
const WAYS: Record<string, typeof start> = {
  'by this process': start,
  'by a process of its own': (program, listener) => starter.start(program, listener),
};
const shell = (script: string) => ({ command: '/bin/sh', args: ['-c', script], cwd: '/' });
const quiet = () => {};
/** The process that starts programs. */
const [starterPid] = (await run('exec cut -d " " -f 4 /proc/self/stat')).printed.split('\n').map(Number);

async function run(script: string, way = WAYS['by a process of its own']!) {
  let said = '';
  const { stdout, ended } = await way(shell(script), (text) => {
    said += text;
  });
  const [printed, end] = await Promise.all([text(stdout), ended]);
  return { printed, said, end };
}

for (const [name, way] of Object.entries(WAYS)) {
  t.test(`a program started ${name} hands over all it writes, and how it ends`, async (t) => {
    t.strictSame(await run('printf out; printf "\\303\\244 err" >&2; exit 3', way), {
      printed: 'out',
      said: 'ä err',
      end: { code: 3, signal: null },
    });
    t.strictSame((await run('kill -KILL $$', way)).end, { code: null, signal: 'SIGKILL' });
    const { printed, said } = await run('head -c 20000000 /dev/zero | tr "\\0" x; head -c 3000000 /dev/zero | tr "\\0" y >&2', way);
    t.equal(printed.length, 20_000_000);
    t.equal(said.length, 3_000_000);
  });

  t.test(`a program started ${name} has no input, no environment, and is the leader of its group`, async (t) => {
    const { printed } = await run('cat; tr "\\0" "\\n" < /proc/$$/environ; cut -d " " -f 5 /proc/$$/stat; echo $$', way);
    const lines = printed.trim().split('\n');
    t.equal(lines.at(-2), lines.at(-1));
    t.strictSame(
      lines.slice(0, -2).filter((line) => !/^(_TAPJS_|NODE_OPTIONS=)/.test(line)),
      [],
      'but for what tap sets in every child',
    );
  });

  t.test(`programs started ${name} at the same time, and over at once, lose nothing`, async (t) => {
    const runs = await Promise.all(Array.from({ length: 60 }, (_, i) => run(`echo out ${i}; echo err ${i} >&2`, way)));
    t.strictSame(
      runs.map(({ printed, said }) => printed + said),
      runs.map((_, i) => `out ${i}\nerr ${i}\n`),
    );
  });

  t.test(`a program that cannot be started ${name} is refused with the reason`, async (t) => {
    await t.rejects(way({ command: '/none', args: [], cwd: '/' }, quiet), { message: /\/none ENOENT/ });
    t.equal((await run('echo next', way)).printed, 'next\n');
  });

  t.test(`a program started ${name} whose output nobody reads leaves no open file`, async (t) => {
    const { length } = readdirSync('/proc/self/fd');
    for (let i = 0; i < 5; i++) await (await way(shell('echo unread'), quiet)).ended;
    await sleep(100);
    t.equal(readdirSync('/proc/self/fd').length, length);
  });
}

t.test('if the process that starts programs is killed, those that run end as failed, and the next ones start', async (t) => {
  const { ended } = await starter.start(shell('exec sleep 0.5'), quiet);
  process.kill(starterPid!, 'SIGKILL');
  await t.rejects(ended, { message: 'Cannot start programs: the process that starts them ended (SIGKILL)' });
  t.equal((await run('echo again')).printed, 'again\n');
});

t.test('the process that starts programs ends with the one it serves, not before, and keeps it from nothing', async (t) => {
  const source = new URL('../../../../engine/audio/ffmpeg/starter.ts', import.meta.url).href;
  const program = `
    const { Starter } = await import(${JSON.stringify(source)});
    const { stdout, ended } = await new Starter().start({ command: '/bin/sh', args: ['-c', 'cut -d " " -f 4 /proc/$$/stat'], cwd: '/' }, () => {});
    stdout.pipe(process.stdout);
    await ended;
  `;
  const hooks = new URL('../../../support/typescript.mjs', import.meta.url).pathname;
  const served = await promisify(execFile)(process.execPath, [`--import=${hooks}`, '--input-type=module', '-e', program], {
    timeout: 60_000,
  });
  const isGone = () => !readFileOr(`/proc/${Number(served.stdout)}/status`);
  for (let i = 0; i < 100 && !isGone(); i++) await sleep(50);
  t.ok(isGone());
});

t.test('signals to the process group do not end the process that starts programs', async (t) => {
  const [pid] = (await run('exec cut -d " " -f 4 /proc/self/stat')).printed.split('\n').map(Number);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid!, signal);
  await sleep(200);
  t.equal((await run('exec cut -d " " -f 4 /proc/self/stat')).printed, `${pid}\n`);
});

function readFileOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
