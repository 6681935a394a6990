import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Parser } from 'tap-parser';
import { BRIEF } from '../processes/processes.ts';
import { type Done, END, patienceMs } from './protocol.ts';

const TOGETHER = fileURLToPath(new URL('together.ts', import.meta.url));
const LOADER = new URL('../typescript.mjs', import.meta.url).href;
const MAX_DIAGNOSTIC = 4000; // maximum characters of found and wanted values
const REST_MS = 60_000; // for a process to exit after its last file

export interface Skip {
  test: string;
  reason: string;
}

/** Result of one test file. */
export interface Outcome {
  file: string;
  seconds: number;
  cpuSeconds: number;
  passed: number;
  skips: Skip[];
  /** Failures with found and wanted values, as lines to print. */
  failures: string[];
}

/** Milliseconds after which a process is killed: later than together.ts ends a file, since that cannot end a busy loop. */
export const busyMs = () => patienceMs() + 60_000;

/** A process that runs one test file after another. */
export class TestProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  #outcome: Outcome | null = null;
  #closed: () => void = () => {};
  #noise = '';

  constructor() {
    this.#child = spawn(process.execPath, [...BRIEF, '--no-incremental-marking', `--import=${LOADER}`, TOGETHER], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...process.env, TAP: '1', TAP_TIMEOUT: '0' },
    });
    this.#ended = once(this.#child, 'close').then(([code, signal]) => (signal ? `signal ${signal}` : `code ${code}`));
    const parser = new Parser();
    parser.on('child', (child) => this.#listenToFile(child));
    parser.on('assert', (result) => {
      if (!result.ok && !result.closingTestPoint) this.#fail(`after the last test of a file: ${result.name}`, result.diag); // an error that came late
    });
    this.#child.stdout!.pipe(parser);
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#noise = (this.#noise + text).slice(-20_000)));
  }

  /** False once a file has failed or the process has exited: its state may differ from that of a new one. */
  get sound(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null && !this.#outcome?.failures.length;
  }

  async run(file: string): Promise<Outcome> {
    const outcome: Outcome = { file, seconds: 0, cpuSeconds: 0, passed: 0, skips: [], failures: [] };
    this.#outcome = outcome;
    this.#noise = '';
    const started = performance.now();
    const closed = new Promise<void>((resolve) => {
      this.#closed = resolve;
    });
    const done = new Promise<Done>((resolve) => {
      const receive = (message: object) => {
        if (!('cpuSeconds' in message)) return; // tap sends messages too
        this.#child.off('message', receive);
        resolve(message as Done);
      };
      this.#child.on('message', receive);
    });
    this.#child.send(file);
    const watch = setTimeout(() => this.#child.kill('SIGKILL'), busyMs());
    const ended = await Promise.race([Promise.all([done, closed]), this.#ended]);
    clearTimeout(watch);
    if (typeof ended === 'string') outcome.failures.push(`${file}: the process ended with ${ended} before the file did\n${this.#noise}`);
    else outcome.cpuSeconds = ended[0].cpuSeconds;
    if (outcome.failures.length && this.#noise) outcome.failures.push(this.#noise);
    outcome.seconds = (performance.now() - started) / 1000;
    return outcome;
  }

  /** Lets the process exit. Resolves with a description of an unexpected exit, or null. */
  async end(): Promise<string | null> {
    if (!this.sound)
      this.#child.kill('SIGKILL'); // it may hang
    else if (this.#child.connected) this.#child.send(END);
    const late = setTimeout(() => this.#child.kill('SIGKILL'), REST_MS);
    const how = await this.#ended;
    clearTimeout(late);
    return how === 'code 0' || this.#outcome?.failures.length ? null : `after its last test the process ended with ${how}\n${this.#noise}`;
  }

  #listenToFile(parser: Parser): void {
    this.#listen(parser, parser.name);
    parser.on('complete', ({ ok, plan }) => {
      const outcome = this.#outcome!;
      if (plan.skipAll) outcome.skips.push({ test: parser.name, reason: plan.skipReason });
      if (!ok && !outcome.failures.length) outcome.failures.push(`${parser.name}: it failed without a reported failure`);
      this.#closed();
    });
  }

  #fail(test: string, diagnostic: unknown): void {
    this.#outcome?.failures.push(`${test}\n${JSON.stringify(diagnostic ?? {}, null, 2).slice(0, MAX_DIAGNOSTIC)}`);
  }

  /** Records every assertion, at any depth. */
  #listen(parser: Parser, within: string): void {
    parser.on('child', (child) => this.#listen(child, `${within} > ${child.name}`));
    parser.on('assert', (result) => {
      const outcome = this.#outcome!;
      const test = `${within} > ${result.name}`;
      if (result.skip) outcome.skips.push({ test, reason: result.skip === true ? '' : result.skip });
      else if (!result.ok && !result.todo) {
        if (result.closingTestPoint && outcome.failures.length) return; // the inner failure is reported
        this.#fail(test, result.diag);
      } else if (!result.closingTestPoint) outcome.passed++;
    });
  }
}
