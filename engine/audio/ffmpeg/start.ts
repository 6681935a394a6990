import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type End, type Listener, type Program, type Started, Starter } from './starter.ts';

/**
 * Resident bytes from which on a small process starts programs. A fork copies the page tables of its parent, and each page that the parent
 * writes afterwards costs a fault: 0.05 s per gigabyte, and 120,000 faults while base transcribes eight minutes; together 3 to 5 % of the
 * time. macOS does not copy them, and Deno cannot pass on the output.
 */
const LARGE_BYTES = 256 * 2 ** 20;
const FORKS = process.platform === 'linux' && !('Deno' in globalThis);

const starter = new Starter();

/** Starts a program without a shell, with an empty environment and no input. Throws if it cannot be started. */
export async function start(program: Program, listener: Listener): Promise<Started> {
  if (!FORKS || process.memoryUsage.rss() < LARGE_BYTES) return startHere(program, listener);
  return starter.start(program, listener).catch(() => startHere(program, listener)); // slower, but needs no other process
}

async function startHere({ command, args, cwd }: Program, listener: Listener): Promise<Started> {
  const child = spawn(command, args, { cwd, env: {}, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  await once(child, 'spawn'); // throws the error if there is one
  child.stderr.setEncoding('utf8').on('data', listener);
  const ended = new Promise<End>((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  return { pid: child.pid!, stdout: child.stdout, ended };
}
