const STEPS = 8; // of the decoder, a fifth of a second, for each unit of another network: one of those takes as long as four

/**
 * Keeps a thread's decoder going beside other networks: while it has work, they get in one unit at a time, every few steps. Without it each of its
 * many short steps waits for a long unit of theirs, and a note of five seconds beside a long file for ten.
 */
export class Pace {
  readonly #waiting: (() => void)[] = [];
  #steps = STEPS;
  #decoding = false;

  /** Resolves when a unit of another network may run. */
  async enter(): Promise<void> {
    if (this.#decoding && (this.#waiting.length || this.#steps < STEPS)) await new Promise<void>((go) => this.#waiting.push(go));
    this.#steps = 0;
  }

  /** The decoder has work from now on. */
  begin(): void {
    this.#decoding = true;
  }

  /** It has made a step. */
  step(): void {
    if (++this.#steps >= STEPS) this.#waiting.shift()?.();
  }

  /** It has no more work. */
  rest(): void {
    this.#decoding = false;
    for (const go of this.#waiting.splice(0)) go();
  }
}
