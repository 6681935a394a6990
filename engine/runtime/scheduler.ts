/**
 * Scheduling: the complete policy of an engine, in the order in which a unit of work passes through it.
 *
 * 1. `FairQueue`, on the main thread: limits the units of each kind in flight (`placesOn`). The file with the fewest in flight goes next,
 *    and a file with none is admitted even above the limit. The first units of a file are urgent (`FIRST_UNITS`).
 * 2. `DecodeQueue`, on each thread: picks the window for the next free row of the decoder. First windows of a file come first, then windows
 *    already encoded, then the file with the fewest rows.
 * 3. `Interleaver`, on each thread: decides when a unit of another model may run between two decoder steps.
 *
 * While the first window of a file is being decoded, windows and units of other files wait longer, so that short recordings are not delayed
 * by long ones.
 */

/** Kinds of work. */
export type Kind = 'recognise' | 'segment' | 'embed' | 'link';

/** Units per file that take priority, by kind. A recording of one minute has no more than these. */
export const FIRST_UNITS: Readonly<Record<Kind, number>> = { recognise: 2, segment: 4, embed: 8, link: 1 };

const ROWS_AHEAD = 2; // windows queued on a thread beyond those in its batch, so that the decoder never idles
const UNITS_AHEAD = 2; // units of the other models queued on a thread
const STEPS_A_UNIT = 8; // decoder steps (0.2 s) between two units of other models; such a unit takes as long as four steps
const STEPS_A_UNIT_HURRIED = 40; // the same while another file's first window is being decoded: 1 s, so that the other files still progress

/** Units of each kind that may be in flight for a number of threads that decode `rows` windows each. */
export function placesOn(threads: number, rows: number): Readonly<Record<Kind, number>> {
  return {
    recognise: threads * (rows + ROWS_AHEAD),
    segment: threads * UNITS_AHEAD,
    embed: threads * UNITS_AHEAD,
    link: 1, // takes 1 to 2 s, so only one thread at a time
  };
}

interface Waiting {
  file: number;
  go(): void;
}

/** Admits files in turn: at most `places` units at once, plus one for any file that has none. */
export class FairQueue {
  readonly #places: number;
  readonly #inside = new Map<number, number>(); // units in flight, by file
  #waiting: Waiting[] = [];
  #taken = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** Waits for a slot and returns the function that releases it. Rejects with the signal's reason if that aborts first. */
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

  /** Admits units while slots are free, fewest in flight first; a file with none is always admitted. */
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

/** Properties of a window that determine when it is decoded. */
export interface Decodable {
  file: number;
  /** Among the first windows of its file. */
  first?: boolean;
  /** Already encoded. */
  urgent?: boolean;
}

/** Windows waiting for a row of the decoder. */
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

  /** Removes and returns all windows. */
  clear(): W[] {
    return this.#waiting.splice(0);
  }

  /** Files whose first window is being decoded or waiting. */
  hurried(decoding: Iterable<Decodable>): Set<number> {
    return new Set([...decoding, ...this.#waiting].flatMap(({ first, file }) => (first ? [file] : [])));
  }

  /**
   * Removes and returns the window to decode next, or null if it does not fit. Encoding costs about 12 decoder steps, so while another file
   * is hurried it waits as long as a unit of another model.
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
 * Keeps the decoder running beside other models: while it decodes, their units run one at a time, every few steps. Without this each of the
 * many short decoder steps waits for a long unit, and a 5 s note next to a long file takes 10 s.
 */
export class Interleaver {
  readonly #waiting: Waiting[] = [];
  #hurried: ReadonlySet<number> = new Set();
  #steps = STEPS_A_UNIT; // since the last unit
  #decoding = false;

  /** Resolves when a unit of another model may run; immediately for the first units of a file. */
  async enter(file: number, first: boolean): Promise<void> {
    if (this.#decoding && !first && (this.#waiting.length || !this.mayRun(file)))
      await new Promise<void>((go) => this.#waiting.push({ file, go }));
    this.ran();
  }

  /** Whether enough decoder steps have passed for a unit of this file. */
  mayRun(file: number): boolean {
    return this.#steps >= (this.#hurried.size === 0 || this.#hurried.has(file) ? STEPS_A_UNIT : STEPS_A_UNIT_HURRIED);
  }

  /** Records that a unit has run; decoder steps follow. */
  ran(): void {
    this.#steps = 0;
  }

  /** The decoder starts to work. */
  begin(): void {
    this.#decoding = true;
  }

  /** Records a decoder step, and which files are hurried. */
  step(hurried: ReadonlySet<number>): void {
    this.#hurried = hurried;
    this.#steps++;
    const next = this.#waiting.findIndex(({ file }) => this.mayRun(file));
    if (next >= 0) this.#waiting.splice(next, 1)[0]!.go();
  }

  /** The decoder becomes idle. */
  rest(): void {
    this.#decoding = false;
    this.#hurried = new Set();
    for (const { go } of this.#waiting.splice(0)) go();
  }
}
