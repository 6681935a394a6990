import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const LONGHAND = path.join(ROOT, 'scripts', 'longhand');

const LOADER = new URL('../typescript.mjs', import.meta.url).href;
const RECORDER = new URL('../recorder.mjs', import.meta.url).href;

/** Lets Node run a source of the project, faster than under `tsx`: `node ...RUN file.ts`. */
export const RUN = ['--import', LOADER];

/**
 * Options of V8 for processes that live for seconds: it optimises code later, which took 4 % less of Node's CPU time in 90 test files, collects
 * garbage on one thread, as in the product, and has a young space of 16 MiB from the start.
 */
export const BRIEF = ['--interrupt-budget=300000', '--single-threaded-gc', '--min-semi-space-size=16'];

/** Arguments for running a program of the product, such as `api/main.ts`, in Node: from its bundle if test/run.ts has built one (run/build.ts). */
export function program(name: string): string[] {
  const bundles = process.env.TEST_PROGRAMS;
  const recorder = process.env.TEST_STATEMENTS ? ['--import', RECORDER] : [];
  const runtime = name === 'engine/main.ts' ? ['--no-incremental-marking'] : []; // as scripts/longhand does
  return [
    ...BRIEF,
    ...runtime,
    ...recorder,
    ...(bundles ? [path.join(bundles, name.replace(/\.ts$/, '.mjs'))] : [...RUN, path.join(ROOT, name)]),
  ];
}

/**
 * Variables with which `scripts/longhand` loads fast: from its bundle, or else its sources with the loader of the tests. With NODE_OPTIONS '' it loads
 * as shipped, which takes 2 s more CPU time.
 */
const FAST = { NODE_OPTIONS: `--import=${LOADER}` };

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Environment for a program of the tests: that of this process without Longhand's settings. */
export function environment(own: Record<string, string> = {}): Record<string, string> {
  const foreign = /^(LONGHAND_|LLM_|OIDC_|AWS_|S3_|TAP_|_TAPJS|NODE_OPTIONS$|DATABASE_URL$|HOST$|PORT$|LOG_)/;
  const kept = Object.entries(process.env).filter(([name, value]) => value !== undefined && !foreign.test(name)) as [string, string][];
  return { ...Object.fromEntries(kept), ...own };
}

const of = (file: string, env: Record<string, string>) => (file === LONGHAND ? { ...FAST, ...env } : env);

/** Runs a program until it exits. */
export async function finish(file: string, args: readonly string[], env: Record<string, string> = {}, cwd = ROOT): Promise<Finished> {
  const child = spawn(file, args, { cwd, env: environment(of(file, env)), stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collect(child);
  const code = await ended(child);
  return { code, ...output };
}

/** Runs `scripts/longhand` until it exits. */
export function longhand(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
  return finish(LONGHAND, args, env);
}

export interface Running {
  child: ChildProcess;
  /** Everything printed so far. */
  output: { stdout: string; stderr: string };
  /** Resolves with the exit code and the signal, also after the exit, for which `once(child, 'exit')` would wait forever. */
  exited: Promise<unknown[]>;
  /** Resolves with the match of `pattern` in the standard output. Rejects with the output if the program exits first, or after `timeoutMs`. */
  said(pattern: RegExp, timeoutMs?: number): Promise<RegExpExecArray>;
  /** Sends the signal and waits; resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts a program in the background; it is stopped at teardown. */
export function start(
  t: { teardown(after: () => unknown): void },
  file: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Running {
  const child = spawn(file, args, { cwd: ROOT, env: environment(of(file, env)), stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collect(child);
  const end = ended(child);
  const exited = once(child, 'exit');
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return end;
  };
  t.teardown(() => stop());
  return {
    child,
    output,
    exited,
    stop,
    async said(pattern, timeoutMs = 600_000) {
      for (const until = Date.now() + timeoutMs; ; await sleep(50)) {
        const match = pattern.exec(output.stdout);
        if (match) return match;
        if (child.exitCode !== null || child.signalCode)
          throw new Error(`The program exited before it printed ${pattern}:\n${output.stdout}${output.stderr}`);
        if (Date.now() > until) throw new Error(`The program did not print ${pattern}:\n${output.stdout}${output.stderr}`);
      }
    },
  };
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' };
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  return output;
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}

const FIRST_PORT = 10_000;
const PORTS = 22_000; // up to those that systems give out for connections and for port 0, so that nobody gets one before it is used

/** An unused port of this machine. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, FIRST_PORT + PORTS);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
