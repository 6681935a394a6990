import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface Part {
  /** Resolves with the first line for which `ready` answered; rejects when the process ended before. */
  readonly ready: Promise<string>;
  /** Asks the process to end and waits; after `graceMs` it is killed. It is not started again. */
  stop(graceMs: number): Promise<void>;
}

interface PartOptions {
  /** Of the command line: `api`, `engine`. */
  name: string;
  args?: readonly string[];
  /** Picks, from its standard output, the line that says it serves. */
  ready: RegExp;
  /** Variables for the next start, beside those of this process. */
  environment(): Record<string, string>;
  log(line: string): void;
}

const LAUNCH = fileURLToPath(new URL('launch.mjs', import.meta.url));
/**
 * How Node runs them; scripts/longhand says the same. Uploads make much short-lived garbage: a small nursery keeps the API under 200 MB beside ten of them.
 * The engine has a thread for every core: helpers that collect garbage beside them only take those cores from them, an eightieth of all time.
 */
const RUNTIME: Record<string, string[]> = { api: ['--max-semi-space-size=4'], engine: ['--single-threaded-gc'] };
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
const HEALTHY_MS = 60_000; // a process that lasted this long begins with the shortest pause again

/** Runs one part of the service as a process of its own, and starts it again, ever more slowly, when it ends by itself after it served. */
export function supervise(options: PartOptions): Part {
  const stopping = new AbortController();
  let child: ChildProcess | undefined;
  let served: (line: string) => void;
  let failed: (error: Error) => void;
  const ready = new Promise<string>((resolve, reject) => {
    served = resolve;
    failed = reject;
  });
  ready.catch(() => {}); // the caller may look later
  const keepRunning = async () => {
    let pause = FIRST_PAUSE_MS;
    let wasReady = false;
    while (!stopping.signal.aborted) {
      const started = Date.now();
      child = start(options, (line) => {
        wasReady = true;
        served(line);
      });
      const reason = await ending(child);
      if (stopping.signal.aborted) return;
      if (!wasReady) return failed(new Error(`The ${options.name} ended at its start (${reason}); its message is above.`));
      if (Date.now() - started > HEALTHY_MS) pause = FIRST_PAUSE_MS;
      options.log(`the ${options.name} ended (${reason}); starting it again in ${pause / 1000} s`);
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => {});
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  };
  const running = keepRunning();
  return {
    ready,
    async stop(graceMs) {
      stopping.abort();
      child?.kill('SIGTERM');
      const insist = setTimeout(() => child?.kill('SIGKILL'), graceMs);
      await running;
      clearTimeout(insist);
    },
  };
}

/** Detached: Ctrl-C reaches `up` alone, which ends the parts in order. Each part ends by itself when `up` is gone (see parts.ts). */
function start({ name, args = [], environment, ready, log }: PartOptions, onReady: (line: string) => void): ChildProcess {
  const child = fork(LAUNCH, [name, ...args], {
    execArgv: RUNTIME[name] ?? [],
    detached: true,
    env: { ...process.env, ...environment() },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  createInterface({ input: child.stdout! }).on('line', (line) => (ready.test(line) ? onReady(line) : log(line)));
  return child;
}

function ending(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`));
  });
}
