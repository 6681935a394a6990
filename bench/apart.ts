import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Message of the other process. */
type Answer<T> = { found: T } | { error: string };

const MEMORY = 'the model probably needs more memory than is free. Close other programs, or set LONGHAND_THREADS to fewer threads';
const REASON = 'see the lines above';

/**
 * Runs a program in a process of its own: the memory that a model took stays with its process and would count for the next
 * one. A model too large for this machine ends that process only. Throws an error that says so.
 * @param program a file that calls `answer`
 * @param what begins the sentence of that error
 * @param signal ends the process
 */
export function apart<T>(program: URL, parameters: readonly unknown[], what: string, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(program), [JSON.stringify(parameters)], {
      execArgv: ['--import', import.meta.resolve('tsx')],
      stdio: ['ignore', 2, 2, 'ipc'],
      signal,
    });
    let answer: Answer<T> | undefined;
    child.once('message', (message: Answer<T>) => {
      answer = message;
    });
    child.once('error', (error) => reject(signal?.aborted ? signal.reason : error));
    child.once('close', (code, killed) => {
      if (signal?.aborted)
        reject(signal.reason); // Ctrl-C in a terminal reaches both processes
      else if (answer && 'found' in answer) resolve(answer.found);
      else reject(new Error(answer?.error ?? `${what} ended with ${killed ?? `code ${code}`}: ${killed ? MEMORY : REASON}`));
    });
  });
}

/** The other side of `apart`: sends the result of `work` with the parameters, or its error. */
export async function answer<P extends unknown[], T>(work: (...parameters: P) => Promise<T>): Promise<void> {
  const end = () => process.kill(process.pid, 'SIGKILL'); // exit() crashes inside onnxruntime
  if (!process.connected) return void end(); // no longer awaited since this process began to load: the event would not be emitted again
  process.once('disconnect', end);
  const message: Answer<T> = await work(...(JSON.parse(process.argv[2]!) as P)).then(
    (found) => ({ found }),
    (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
  );
  process.send!(message, () => process.exit(0));
}
