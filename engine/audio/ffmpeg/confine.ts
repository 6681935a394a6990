import { rmSync } from 'node:fs';
import { access, constants, mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { MediaError } from '../../types.ts';
import { fences, NOBODY_UID } from './fences.ts';
import { start } from './start.ts';
import { type End, killGroup, type Listener, type Started } from './starter.ts';

export interface Confined {
  stdout: Readable;
  /** The beginning of what the child has written to standard error. */
  complaints(): string;
  /** Reports output: restarts the timeout for silence. */
  alive(): void;
  /** Kills the child; `ended` rejects with `reason` unless it already has another one. */
  stop(reason: Error): void;
  /**
   * Resolves when the child has exited, whatever its exit code. Rejects with PROCESSING_TIMEOUT, with the reason of an abort or a stop, or
   * with an ordinary Error if the file is not at fault: the child was killed, could not start, or the file disappeared.
   */
  ended: Promise<End>;
}

interface Limits {
  /** Wall-clock seconds; CPU time is limited to as much per core used. */
  seconds: number;
  /** Seconds without output before the child counts as stuck. */
  silence: number;
  signal?: AbortSignal;
  /** Receives all that the child writes to standard error. */
  listener?: Listener;
}

const MAX_STDERR_CHARACTERS = 16_384; // characters of standard error to keep
const KILL_SIGNALS = new Set<NodeJS.Signals | null>(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT']); // sent by people, and by the kernel when memory runs out
const WRAPPER_ERROR = /^(?:unshare|setpriv|prlimit): .*/; // messages of the wrappers when they cannot start the program

/**
 * Runs a media program on an untrusted file: no shell, empty environment, its own empty and already unlinked working directory, and the
 * restrictions of fences.ts. `input` is the file to read.
 */
export async function confined(program: string, args: string[], input: string, limits: Limits): Promise<Confined> {
  limits.signal?.throwIfAborted();
  const asNobody = process.getuid?.() === 0 && (await openToAll(input));
  const [command = program, ...rest] = [...(await fences(limits.seconds, asNobody)), program, ...args];
  const home = await mkdtemp(join(tmpdir(), 'longhand-media-'));
  let complaints = '';
  const listener = (text: string) => {
    complaints = (complaints + text).slice(0, MAX_STDERR_CHARACTERS);
    limits.listener?.(text);
  };
  // The child has the folder as working directory once it runs: nothing can be created in it, and a killed engine leaves nothing behind.
  const child = await start({ command, args: rest, cwd: home }, listener).finally(() => rmSync(home, { recursive: true, force: true }));
  const watch = supervise(child, limits);
  const ended = watch.ended.then((end) => blameless(end, complaints, input));
  ended.catch(() => {}); // handled by whoever awaits it
  return { stdout: child.stdout, ended, complaints: () => complaints, alive: watch.alive, stop: watch.stop };
}

/** Throws if the exit says nothing about the file, which then must not be rejected because of it. */
async function blameless(end: End, complaints: string, input: string): Promise<End> {
  if (KILL_SIGNALS.has(end.signal)) throw new Error(`Cannot decode the recording: the decoder was killed by ${end.signal} from outside`);
  if (end.code === 0) return end;
  const [fence] = WRAPPER_ERROR.exec(complaints) ?? [];
  if (fence) throw new Error(`Cannot decode the recording: the decoder could not be started (${fence})`);
  await access(input, constants.R_OK).catch((cause: Error) => {
    throw new Error('Cannot decode the recording: its file disappeared while it was being read', { cause });
  });
  return end;
}

/**
 * Waits for the child to exit and kills it on abort, on timeout and on silence. Timeouts count only while this process runs, so that a
 * suspended process (live migration of a VM, say) does not take its own absence for a hanging decoder.
 */
function supervise(child: Started, { seconds, silence, signal }: Limits) {
  let reason: Error | undefined;
  const kill = (error: Error) => {
    reason ??= error;
    killGroup(child.pid); // includes the wrappers
  };
  const abort = () => kill(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
  let [whole, quiet] = [0, 0]; // seconds
  const clock = setInterval(() => {
    if (++whole >= seconds) kill(timeout(`after ${seconds} s`));
    else if (++quiet >= silence) kill(timeout(`after ${silence} s without output`));
  }, 1000);
  if (signal?.aborted)
    abort(); // while the child was prepared
  else signal?.addEventListener('abort', abort, { once: true });
  const judged = child.ended.then((end) => {
    if (reason) throw reason;
    if (end.signal === 'SIGXCPU') throw timeout('over its CPU time limit');
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

/**
 * Does work that consists of several runs, whose signal aborts with PROCESSING_TIMEOUT after some seconds: of files within a file, each could
 * take as long as one may. They count only while this process runs, as above.
 */
export async function within<Result>(
  seconds: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  let left = seconds;
  const clock = setInterval(() => {
    if (--left <= 0) late.abort(timeout(`after ${seconds} s`));
  }, 1000);
  try {
    return await work(AbortSignal.any(signal ? [signal, late.signal] : [late.signal]));
  } finally {
    clearInterval(clock);
  }
}

function timeout(why: string): MediaError {
  return new MediaError('PROCESSING_TIMEOUT', `Cannot decode the recording: the decoder was stopped ${why}`);
}

/** Whether an unprivileged user could read the file: only then may the child run as one. */
async function openToAll(path: string): Promise<boolean> {
  const file = await stat(path).catch(() => null);
  if (!file || !(file.mode & 0o004 || (file.uid === NOBODY_UID && file.mode & 0o400))) return false;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const { mode, uid } = await stat(folder);
    if (!(mode & 0o001 || (uid === NOBODY_UID && mode & 0o100))) return false;
    if (folder === dirname(folder)) return true;
  }
}
