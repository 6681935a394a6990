import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface Part {
  /** Resolves with the first line that matches `ready`; rejects if the process exits before. */
  readonly ready: Promise<string>;
  /** Asks the process to exit and waits; after `graceMs` it is killed. It is not restarted. */
  stop(graceMs: number): Promise<void>;
  /** Restarts the process at once, with the current sources. */
  restart(): void;
}

interface PartOptions {
  /** Of the command line: `api`, `engine`, `courier`. */
  name: string;
  args?: readonly string[];
  /** Matches the line on its standard output that announces readiness. */
  ready: RegExp;
  /** Environment variables for the next start, in addition to those of this process. */
  environment(): Record<string, string>;
  log(line: string): void;
  /** For development: after exiting the process waits for `restart()` instead of failing or restarting. */
  watched?: boolean;
}

const LAUNCH = fileURLToPath(new URL('launch.mjs', import.meta.url));
/**
 * Flags for Node; scripts/longhand uses the same. API: a small young generation keeps it under 200 MB during ten uploads, which produce
 * much short-lived garbage. Engine: it has a thread per core, so parallel garbage collection would take CPU time from them (1.2 % of the
 * total). Each thread has a small heap but much external memory, and V8 would start incremental marking for every few megabytes of it (10 %);
 * switching that off in a running process crashed it while it was marking.
 */
const RUNTIME: Record<string, string[]> = {
  api: ['--max-semi-space-size=4'],
  engine: ['--single-threaded-gc', '--no-incremental-marking'],
};
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
const HEALTHY_MS = 60_000; // after this long the restart delay is reset

/** Runs one part of the service as a child process, and restarts it with increasing delays if it exits after it was ready. */
export function supervise(options: PartOptions): Part {
  const stopping = new AbortController();
  let child: ChildProcess | undefined;
  let served: (line: string) => void;
  let failed: (error: Error) => void;
  const ready = new Promise<string>((resolve, reject) => {
    served = resolve;
    failed = reject;
  });
  ready.catch(() => {}); // the caller may await it later
  let replaced = false; // restart() was called
  let wake = () => {};
  const changed = (reason: string) => {
    options.log(`the ${options.name} exited (${reason}); it restarts when a source file changes`);
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
      if (!wasReady) return failed(new Error(`The ${options.name} exited during startup (${reason}); see its message above.`));
      if (Date.now() - started > HEALTHY_MS) pause = FIRST_PAUSE_MS;
      options.log(`the ${options.name} exited (${reason}); restarting in ${pause / 1000} s`);
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

/** Starts the child detached, so that Ctrl-C reaches `up` only, which stops the parts in order. Parts exit when `up` is gone (parts.ts). */
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
