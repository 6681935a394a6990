/**
 * Who goes next: the whole policy of an engine, in the order in which a unit of work meets it.
 *
 * 1. `FairQueue`, in the main thread: so many units of each kind are inside at once (`placesOn`), the file with the fewest goes next, and a file
 *    that has none inside is let in whatever the others hold. A unit counts as urgent while it is among the first of its file (`FIRST_UNITS`).
 * 2. `DecodeQueue`, in each thread: which window takes the next free row of the decoder. First windows of a file, then windows that are encoded
 *    already, then the file with the fewest rows.
 * 3. `Interleaver`, in each thread: when a unit of another network may run between two steps of the decoder.
 *
 * While the first window of a file is decoded, windows and units of other files wait longer: a short note is not held up by a long recording.
 */

/** Kinds of work. */
export type Kind = 'recognise' | 'segment' | 'embed' | 'link';

/** Units of a file that go before all others, by kind: a note of a minute has no more. */
export const FIRST_UNITS: Readonly<Record<Kind, number>> = { recognise: 2, segment: 4, embed: 8, link: 1 };

const ROWS_AHEAD = 2; // windows a thread holds beyond those it decodes, so that it never waits
const UNITS_AHEAD = 2; // units of the other networks a thread holds
const STEPS_A_UNIT = 8; // decoder steps, 0.2 s, between two units of another network: one of those takes as long as four
const STEPS_A_UNIT_HURRIED = 40; // the same while another file's first window is decoded: 1 s, so that nothing stands still

/** Units of each kind that may be inside at once on so many threads, each of which decodes `rows` windows together. */
export function placesOn(threads: number, rows: number): Readonly<Record<Kind, number>> {
  return {
    recognise: threads * (rows + ROWS_AHEAD),
    segment: threads * UNITS_AHEAD,
    embed: threads * UNITS_AHEAD,
    link: 1, // takes 1 to 2 s: the other threads stay free of it
  };
}

interface Waiting {
  file: number;
  go(): void;
}

/** Lets files in by turns: at most `places` units at once, and one of every file whatever the others hold. */
export class FairQueue {
  readonly #places: number;
  readonly #inside = new Map<number, number>(); // units, by file
  #waiting: Waiting[] = [];
  #taken = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** Waits for a place; the function returned gives it back. Rejects with the signal's reason when that aborts before. */
  enter(file: number, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const waiting: Waiting = {
        file,
        go: () => {
          signal.removeEventListener('abort', abandon);
          resolve(() => this.#leave(file));
        },
      };
      const abandon = () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abandon, { once: true });
      this.#waiting.push(waiting);
      this.#admit();
    });
  }

  #leave(file: number): void {
    this.#taken--;
    const left = this.#inside.get(file)! - 1;
    if (left === 0) this.#inside.delete(file);
    else this.#inside.set(file, left);
    this.#admit();
  }

  /** Lets in whoever has the fewest units inside, while there is a place; a file without any enters always. */
  #admit(): void {
    for (;;) {
      let next: Waiting | undefined;
      let fewest = Number.POSITIVE_INFINITY;
      for (const waiting of this.#waiting) {
        const inside = this.#inside.get(waiting.file) ?? 0;
        if (inside < fewest) [next, fewest] = [waiting, inside];
      }
      if (!next || (this.#taken >= this.#places && fewest > 0)) return;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#inside.set(next.file, fewest + 1);
      this.#taken++;
      next.go();
    }
  }
}

/** What decides when a window is decoded. */
export interface Decodable {
  file: number;
  /** Among the first windows of its file. */
  first?: boolean;
  /** Encoded already. */
  urgent?: boolean;
}

/** Windows that wait for a row of the decoder. */
export class DecodeQueue<W extends Decodable> {
  readonly #interleaver: Interleaver | undefined;
  readonly #waiting: W[] = [];

  constructor(interleaver?: Interleaver) {
    this.#interleaver = interleaver;
  }

  get length(): number {
    return this.#waiting.length;
  }

  add(window: W): void {
    this.#waiting.push(window);
  }

  /** Takes all out. */
  clear(): W[] {
    return this.#waiting.splice(0);
  }

  /** The files of which a first window is decoded or waits. */
  hurried(decoding: Iterable<Decodable>): Set<number> {
    return new Set([...decoding, ...this.#waiting].flatMap(({ first, file }) => (first ? [file] : [])));
  }

  /**
   * Takes out the window that is decoded next, or none if that one does not fit. To encode one takes as long as a dozen decoder steps: while another
   * file is in a hurry it waits as a unit of another network does.
   */
  next(decoding: Iterable<Decodable>, fits: (window: W) => boolean): W | null {
    const inside = [...decoding];
    const hurried = this.hurried(inside);
    const held = ({ first, urgent, file }: W) =>
      hurried.size > 0 && !first && !urgent && !hurried.has(file) && this.#interleaver?.mayRun(file) === false;
    const rows = new Map<number, number>();
    for (const { file } of inside) rows.set(file, (rows.get(file) ?? 0) + 1);
    let chosen = -1;
    let lowest = Number.POSITIVE_INFINITY;
    this.#waiting.forEach((window, i) => {
      const rank = window.first ? -2 : window.urgent ? -1 : (rows.get(window.file) ?? 0);
      if (rank < lowest && !held(window)) [chosen, lowest] = [i, rank];
    });
    const window = this.#waiting[chosen];
    if (!window || !fits(window)) return null;
    if (hurried.size > 0 && !window.first) this.#interleaver?.ran();
    return this.#waiting.splice(chosen, 1)[0]!;
  }
}

/**
 * Keeps a thread's decoder going beside other networks: while it decodes, their units get in one at a time, every few steps. Without it each of
 * the decoder's many short steps waits for a long unit, and a note of 5 s beside a long file takes 10 s.
 */
export class Interleaver {
  readonly #waiting: Waiting[] = [];
  #hurried: ReadonlySet<number> = new Set();
  #steps = STEPS_A_UNIT; // since a unit ran
  #decoding = false;

  /** Resolves when a unit of another network may run; `first` ones of a file at once. */
  async enter(file: number, first: boolean): Promise<void> {
    if (this.#decoding && !first && (this.#waiting.length || !this.mayRun(file)))
      await new Promise<void>((go) => this.#waiting.push({ file, go }));
    this.ran();
  }

  /** Whether the decoder has made enough steps for a unit of this file. */
  mayRun(file: number): boolean {
    return this.#steps >= (this.#hurried.size === 0 || this.#hurried.has(file) ? STEPS_A_UNIT : STEPS_A_UNIT_HURRIED);
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
    const next = this.#waiting.findIndex(({ file }) => this.mayRun(file));
    if (next >= 0) this.#waiting.splice(next, 1)[0]!.go();
  }

  /** The decoder has no more work. */
  rest(): void {
    this.#decoding = false;
    this.#hurried = new Set();
    for (const { go } of this.#waiting.splice(0)) go();
  }
}
