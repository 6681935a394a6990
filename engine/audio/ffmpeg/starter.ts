import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export interface Program {
  command: string;
  args: readonly string[];
  cwd: string;
}

/** A program that was started, in a process group of its own. */
export interface Started {
  pid: number;
  stdout: Readable;
  /** Resolves when the program has exited and its standard error has been read. */
  ended: Promise<End>;
}

export interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** Receives what a program writes to standard error. */
export type Listener = (text: string) => void;

/** An answer of starter.mjs about the program of a request: that it started, what it wrote to standard error, or how it ended. */
type Answer = { id: number } & ({ pid: number } | { text: string } | End | { failure: string });

interface Run {
  listener: Listener;
  open(started: Started): void;
  fail(error: Error): void;
  /** Of a program that has started. */
  started?: { pid: number; stdout: Socket; end(end: End): void };
}

const WAKE_MS = 10_000;

/** Starts programs from a small process of its own (starter.mjs), which is opened when it is first needed and stays. */
export class Starter {
  #process: ChildProcess | undefined;
  #runs = new Map<number, Run>();
  #count = 0;
  #clock: NodeJS.Timeout | undefined;
  readonly #wakeMs: number;

  constructor(wakeMs = WAKE_MS) {
    this.#wakeMs = wakeMs;
  }

  /**
   * Rejects if the program cannot be started, and then has told the listener nothing. `ended` of the result rejects if nobody knows how the
   * program ended; then it has been killed.
   */
  async start(program: Program, listener: Listener): Promise<Started> {
    const id = this.#count++;
    this.#process ??= this.#open();
    this.#hold(true);
    return new Promise((open, fail) => {
      this.#runs.set(id, { listener, open, fail });
      this.#process!.send({ id, ...program, cwd: resolve(program.cwd) }, (error) => {
        if (error) this.#settle(id)?.fail(error);
      });
    });
  }

  #open(): ChildProcess {
    const opened = fork(fileURLToPath(new URL('./starter.mjs', import.meta.url)), { cwd: '/', env: {}, execArgv: [], stdio: 'ignore' });
    const gone = (why: string) => {
      if (this.#process !== opened) return;
      this.#process = undefined;
      const error = new Error(`Cannot start programs: the process that starts them ${why}`);
      for (const [id, { started }] of [...this.#runs]) {
        if (started) killGroup(started.pid); // its timeouts end with this
        this.#settle(id)?.fail(error);
      }
    };
    opened.on('message', (answer: Answer, stdout?: Socket) => this.#take(answer, stdout));
    opened.on('error', ({ message }) => gone(`does not start (${message})`));
    opened.once('exit', (code, signal) => gone(`ended (${signal ?? code})`));
    if (!opened.connected) throw new Error('Cannot start programs: too many files are open');
    return opened;
  }

  #take(answer: Answer, stdout?: Socket): void {
    const { id } = answer;
    if ('text' in answer) {
      const run = this.#runs.get(id);
      if (run?.started) run.listener(answer.text);
    } else if ('pid' in answer) this.#opened(id, answer.pid, stdout!);
    else if ('failure' in answer) this.#settle(id)?.fail(new Error(answer.failure));
    else this.#ended(id, answer);
  }

  #opened(id: number, pid: number, stdout: Socket): void {
    const run = this.#runs.get(id);
    if (!run) return void stdout.destroy(); // its failure was told before
    const ended = new Promise<End>((resolve, reject) => {
      run.started = { pid, stdout, end: ({ code, signal }) => resolve({ code, signal }) };
      run.fail = reject;
    });
    ended.catch(() => {}); // handled by whoever awaits it
    run.open({ pid, stdout, ended });
  }

  #ended(id: number, end: End): void {
    const run = this.#settle(id);
    if (run?.started) run.started.end(end);
    else run?.fail(new Error('Cannot start a program: its output cannot be opened')); // too many files are: Node drops the message then
  }

  /** Forgets a run. */
  #settle(id: number): Run | undefined {
    const run = this.#runs.get(id);
    this.#runs.delete(id);
    run?.started?.stdout.resume(); // closes it if nobody reads it
    if (!this.#runs.size) this.#hold(false);
    return run;
  }

  /** Only while programs run, the process that starts them keeps this one from ending, and is woken if somebody has stopped it. */
  #hold(held: boolean): void {
    for (const one of [this.#process, this.#process?.channel]) held ? one?.ref() : one?.unref();
    if (held) return void (this.#clock ??= setInterval(() => this.#process?.kill('SIGCONT'), this.#wakeMs));
    clearInterval(this.#clock);
    this.#clock = undefined;
  }
}

/** Kills a program that was started, and all of its process group. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it has exited
  }
}
