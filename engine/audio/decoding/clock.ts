import { SAMPLE_RATE } from '../../types.ts';
/** Decoded samples with the timestamp that the container gives them. */
export interface Frame {
  /** Samples by which the container's timestamp is ahead of the number of samples decoded so far: everything lost or paused up to here. */
  lag: number;
  /** Samples per channel. */
  count: number;
  /** [count x channels] row-major. */
  samples: Float32Array;
}

/** A frame with its position: preceded by `silence` samples, and without its first `skip` samples. */
export interface Placed extends Frame {
  silence: number;
  skip: number;
}

const MIN_LAG_SAMPLES = 0.015 * SAMPLE_RATE; // the shortest packets last 10 or 20 ms, and timestamps are rounded to 1 ms
const LOOK_AHEAD_SAMPLES = SAMPLE_RATE; // jitter is over by then, a loss is not
const LOOK_AHEAD_FRAMES = 64; // the same in frames
const MIN_END_LAG_SAMPLES = 0.2 * SAMPLE_RATE; // samples that must be missing near the end, where there is too little look-ahead to distinguish a loss from jitter
const MAX_DRIFT = 1 / 200; // share of the samples that may be dropped where the container's clock is slower than the sample count: 18 s per hour
const DRIFT_GRACE_SAMPLES = 0.1 * SAMPLE_RATE; // samples exempt from it
const EVEN_LAG = { boundaries: 8, least: 0.01, most: 1.2, share: 0.8, near: 0.6 };

/**
 * Places frames by the container's timestamps, so that output times match those of a player: silence is inserted where packets were lost,
 * never sent or start late, whether in one gap or many small ones. Deviations that do not last for the look-ahead of one second are jitter
 * and are ignored. A jump back, or one ahead by more than the longest pause, is a clock reset. If every frame is late by the same share of
 * its length, the clock rate is wrong and nothing is missing.
 */
export class Clock {
  #longest: number;
  #longestPause: number;
  #counted: boolean;
  #waiting: Frame[] = [];
  #ahead = 0; // samples in `#waiting`
  #honoured = 0; // lag already applied to the output, or rejected
  #before: number | null = null; // lag of the previous frame
  #placed = 0; // samples in the output
  #skipped = 0;
  #isEven = false;

  /**
   * @param longest limit on the output, samples
   * @param longestPause samples: a longer jump is a clock reset
   * @param counted timestamps are frames counted: those that are late by any share of their length show a wrong rate, and so do later ones
   */
  constructor(longest: number, longestPause = longest, counted = false) {
    this.#longest = longest;
    this.#longestPause = longestPause;
    this.#counted = counted;
  }

  /** Adds a frame; yields those whose position is certain. */
  *push(frame: Frame): Generator<Placed> {
    this.#waiting.push(frame);
    this.#ahead += frame.count;
    while (
      this.#waiting.length > 1 &&
      (this.#ahead - this.#waiting[0]!.count >= LOOK_AHEAD_SAMPLES || this.#waiting.length > LOOK_AHEAD_FRAMES)
    )
      yield this.#next();
  }

  /** Yields the remaining frames at the end of the input. */
  *end(): Generator<Placed> {
    while (this.#waiting.length) yield this.#next();
  }

  #next(): Placed {
    const foreseen = this.#ahead >= LOOK_AHEAD_SAMPLES || this.#waiting.length > LOOK_AHEAD_FRAMES;
    const [least, most] = this.#errors();
    if (foreseen && !(this.#isEven && this.#counted))
      this.#isEven = least >= MIN_LAG_SAMPLES && isEven(this.#waiting, this.#counted ? Number.POSITIVE_INFINITY : EVEN_LAG.most);
    const head = this.#waiting[0]!;
    let [silence, skip] = [0, 0];
    if (least >= (foreseen || this.#isEven ? MIN_LAG_SAMPLES : MIN_END_LAG_SAMPLES)) silence = this.#missing(least);
    else if (most <= -MIN_LAG_SAMPLES) skip = this.#surplus(head, -most);
    this.#before = head.lag;
    this.#waiting.shift();
    this.#ahead -= head.count;
    this.#placed += silence + head.count - skip;
    return { ...head, silence, skip };
  }

  /** Minimum and maximum lag of the waiting frames, samples. */
  #errors(): [least: number, most: number] {
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const { lag } of this.#waiting) {
      least = Math.min(least, lag - this.#honoured);
      most = Math.max(most, lag - this.#honoured);
    }
    return [least, most];
  }

  #missing(late: number): number {
    const believed = !this.#isEven && late <= this.#longestPause && this.#placed + late <= this.#longest;
    this.#honoured += believed ? late : this.#waiting[0]!.lag - this.#honoured;
    return believed ? late : 0;
  }

  #surplus(head: Frame, early: number): number {
    const leapt = this.#before !== null && head.lag - this.#before <= -MIN_LAG_SAMPLES / 2;
    const skip = Math.min(early, head.count);
    if (leapt || this.#skipped + skip > MAX_DRIFT * this.#placed + DRIFT_GRACE_SAMPLES) {
      this.#honoured -= early;
      return 0;
    }
    this.#honoured -= skip;
    this.#skipped += skip;
    return skip;
  }
}

/** Whether every frame is late by about the same share of the previous frame's length. */
function isEven(frames: readonly Frame[], most: number): boolean {
  const steps = frames.slice(1).map(({ lag }, i) => lag - frames[i]!.lag);
  if (steps.length < EVEN_LAG.boundaries) return false;
  const samples = frames.reduce((sum, { count }) => sum + count, 0) - frames.at(-1)!.count;
  const grown = frames.at(-1)!.lag - frames[0]!.lag;
  if (grown < EVEN_LAG.least * samples || grown > most * samples) return false;
  const isNear = (step: number, usual: number) => Math.abs(step - usual) <= EVEN_LAG.near * usual;
  const near = steps.filter((step, i) => isNear(step, (grown / samples) * frames[i]!.count));
  return near.length >= EVEN_LAG.share * steps.length;
}
