import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface Part {
  /** Resolves with the first line that matches the `ready` pattern; rejects when the process ends before. */
  readonly ready: Promise<string>;
  /** Asks the process to end and waits; after `graceMs` it is killed. It is not started again. */
  stop(graceMs: number): Promise<void>;
  /** Ends the process and starts it again at once, with the sources as they are now. */
  restart(): void;
}

interface PartOptions {
  /** Of the command line: `api`, `engine`, `courier`. */
  name: string;
  args?: readonly string[];
  /** Matches the line of its standard output that says it is ready. */
  ready: RegExp;
  /** Variables for the next start, beside those of this process. */
  environment(): Record<string, string>;
  log(line: string): void;
  /** For development: a process that ends waits for `restart()` instead of failing or starting again by itself. */
  watched?: boolean;
}

const LAUNCH = fileURLToPath(new URL('launch.mjs', import.meta.url));
/**
 * Flags for Node; scripts/longhand gives the same. API: a small young generation keeps it under 200 MB during ten uploads, which make much
 * short-lived garbage. Engine: it has a thread per core, so parallel garbage collection would take cores from it (1.2 % of all time).
 */
const RUNTIME: Record<string, string[]> = { api: ['--max-semi-space-size=4'], engine: ['--single-threaded-gc'] };
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
const HEALTHY_MS = 60_000; // after this long the pause is reset to the shortest

/** Runs one part of the service as a child process, and restarts it with growing pauses when it ends by itself after it was ready. */
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
  let replaced = false; // restart() was called
  let wake = () => {};
  const changed = (reason: string) => {
    options.log(`the ${options.name} ended (${reason}); it starts again when a source file changes`);
    return new Promise<void>((resolve) => {
      wake = resolve;
      stopping.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  };
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
      if (options.watched) {
        if (!replaced) await changed(reason);
        replaced = false;
        continue;
      }
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
    restart() {
      replaced = true;
      child?.kill('SIGTERM');
      wake();
    },
    async stop(graceMs) {
      stopping.abort();
      child?.kill('SIGTERM');
      const insist = setTimeout(() => child?.kill('SIGKILL'), graceMs);
      await running;
      clearTimeout(insist);
    },
  };
}

/** Detached, so that Ctrl-C reaches `up` alone, which stops the parts in order. Each part ends by itself when `up` is gone (parts.ts). */
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
