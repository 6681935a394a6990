import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { rmdirSync } from 'node:fs';
import { access, constants, mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { MediaError } from '../types.ts';
import { fences, NOBODY } from './fences.ts';

export interface Confined {
  child: ChildProcessByStdio<null, Readable, Readable>;
  /** What the child wrote to standard error so far, its beginning only. */
  complaints(): string;
  /** Says that output arrived: the limit on silence starts anew. */
  alive(): void;
  /** Ends the child; `ended` rejects with `reason` unless it had another one already. */
  stop(reason: Error): void;
  /**
   * Resolves when the child has ended by itself, whatever its exit code. Rejects with PROCESSING_TIMEOUT, with the reason of an abort or a stop,
   * and with an ordinary Error when the end was not the file's fault: the child was killed, could not start, or its file went.
   */
  ended: Promise<End>;
}

interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
}

interface Limits {
  /** Seconds of wall clock; processor time is limited to as much per core used. */
  seconds: number;
  /** Seconds without a byte on standard output before the child counts as stuck. */
  silence: number;
  signal?: AbortSignal;
}

const COMPLAINTS = 16_384; // characters kept of standard error
const KILLS = new Set<NodeJS.Signals | null>(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']); // sent by people and by a system short of memory
const FENCE = /^(?:unshare|setpriv|prlimit): .*/; // they end so when they cannot start the program

/**
 * Runs a media program on an untrusted file: no shell, empty environment, an empty folder of its own that has no name any more, and the fences of
 * fences.ts. `input` is the file it has to read.
 */
export async function confined(program: string, args: string[], input: string, limits: Limits): Promise<Confined> {
  limits.signal?.throwIfAborted();
  const home = await mkdtemp(join(tmpdir(), 'longhand-media-'));
  const asNobody = process.getuid?.() === 0 && (await openToAll(input));
  const [command = program, ...rest] = [...(await fences(limits.seconds, asNobody)), program, ...args];
  const child = spawn(command, rest, {
    cwd: home,
    env: {},
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  rmdirSync(home); // the child is in it already; so nothing can be put there, and an engine that is killed leaves none behind
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(0, COMPLAINTS);
  });
  const watch = supervise(child, limits);
  const ended = watch.ended.then((end) => blameless(end, complaints, input));
  ended.catch(() => {}); // whoever awaits it hears of it
  return { child, ended, complaints: () => complaints, alive: watch.alive, stop: watch.stop };
}

/** Throws when the end says nothing about the file: then it must not be judged by it. */
async function blameless(end: End, complaints: string, input: string): Promise<End> {
  if (KILLS.has(end.signal)) throw new Error(`Cannot decode the recording: the decoder was killed by ${end.signal} from outside`);
  if (end.code === 0) return end;
  const [fence] = FENCE.exec(complaints) ?? [];
  if (fence) throw new Error(`Cannot decode the recording: the decoder could not be started (${fence})`);
  await access(input, constants.R_OK).catch((cause: Error) => {
    throw new Error('Cannot decode the recording: its file went while it was read', { cause });
  });
  return end;
}

/**
 * Waits for the end of the child and kills it on abort, on the time limit and on silence. Seconds are counted while this process runs: one that was
 * frozen, as on a machine that moves, must not take its own absence for a hanging decoder.
 */
function supervise(child: Confined['child'], { seconds, silence, signal }: Limits) {
  let reason: Error | undefined;
  const kill = (error: Error) => {
    reason ??= error;
    try {
      if (child.pid) process.kill(-child.pid, 'SIGKILL'); // its group: the fences too
    } catch {
      child.kill('SIGKILL');
    }
  };
  const abort = () => kill(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
  let [whole, quiet] = [0, 0]; // seconds
  const clock = setInterval(() => {
    if (++whole >= seconds) kill(timeout(`after ${seconds} s`));
    else if (++quiet >= silence) kill(timeout(`after ${silence} s without output`));
  }, 1000);
  signal?.addEventListener('abort', abort, { once: true });
  const end = new Promise<End>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const judged = end.then((end) => {
    if (reason) throw reason;
    if (end.signal === 'SIGXCPU') throw timeout('over its processor time');
    return end;
  });
  const ended = judged.finally(() => {
    clearInterval(clock);
    signal?.removeEventListener('abort', abort);
  });
  const alive = () => {
    quiet = 0;
  };
  return { ended, alive, stop: kill };
}

function timeout(why: string): MediaError {
  return new MediaError('PROCESSING_TIMEOUT', `Cannot decode the recording: the decoder was stopped ${why}`);
}

/** Whether a user without rights could read the file: only then may the child become one. */
async function openToAll(path: string): Promise<boolean> {
  const file = await stat(path).catch(() => null);
  if (!file || !(file.mode & 0o004 || (file.uid === NOBODY && file.mode & 0o400))) return false;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const { mode, uid } = await stat(folder);
    if (!(mode & 0o001 || (uid === NOBODY && mode & 0o100))) return false;
    if (folder === dirname(folder)) return true;
  }
}
