const STEPS = 8; // of the decoder, a fifth of a second, for each unit of another network: one of those takes as long as four
const HURRIED = 40; // while another file's first window is decoded: a second, so that nothing stands still however many of those come

interface Waiting {
  job: number;
  go(): void;
}

/**
 * Keeps a thread's decoder going beside other work: while it decodes, units of other networks get in one at a time, every few steps. Without it
 * each of its many short steps waits for a long unit, and a note of five seconds beside a long file for ten. While the decoder is in a hurry for
 * some files, the units of others wait longer.
 */
export class Pace {
  readonly #waiting: Waiting[] = [];
  #hurried: ReadonlySet<number> = new Set();
  #steps = STEPS;
  #decoding = false;

  /** Resolves when a unit of another network may run; `first` ones of a file at once. */
  async enter(job: number, first: boolean): Promise<void> {
    if (this.#decoding && !first && (this.#waiting.length || !this.mayRun(job)))
      await new Promise<void>((go) => this.#waiting.push({ job, go }));
    this.ran();
  }

  /** Whether the decoder has made enough steps for a unit of this file. */
  mayRun(job: number): boolean {
    return this.#steps >= (this.#hurried.size === 0 || this.#hurried.has(job) ? STEPS : HURRIED);
  }

  /** A unit has run: the decoder's next steps come first. */
  ran(): void {
    this.#steps = 0;
  }

  /** The decoder has work from now on. */
  begin(): void {
    this.#decoding = true;
  }

  /** The decoder has made a step; these files are in a hurry. */
  step(hurried: ReadonlySet<number>): void {
    this.#hurried = hurried;
    this.#steps++;
    const next = this.#waiting.findIndex(({ job }) => this.mayRun(job));
    if (next >= 0) this.#waiting.splice(next, 1)[0]!.go();
  }

  /** It has no more work. */
  rest(): void {
    this.#decoding = false;
    this.#hurried = new Set();
    for (const { go } of this.#waiting.splice(0)) go();
  }
}
