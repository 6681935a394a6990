/** Samples as a decoder gave them, with the time that the container gives them. */
export interface Frame {
  /** Samples by which the container's time is ahead of the count of samples decoded before: the sum of all that was lost or paused so far. */
  lag: number;
  /** Samples of each channel. */
  count: number;
  /** [count x channels] row-major. */
  samples: Float32Array;
}

/** A frame in its place: `silence` samples come before it, and its first `skip` samples are left out. */
export interface Placed extends Frame {
  silence: number;
  skip: number;
}

const RATE = 16_000;
const NOTICED = 0.015 * RATE; // samples: the shortest packets are 10 or 20 ms, and times are rounded to 1 ms
const AHEAD = RATE; // samples looked ahead: jitter is over by then, a loss stays
const FRAMES = 64; // … and frames
const NEAR_END = 0.2 * RATE; // samples that must be missing where too little is left to tell a loss from jitter
const MOST_DRIFT = 1 / 200; // share of the sound that may be left out where the container's clock is slower than the samples': 18 s an hour
const GRACE = 0.1 * RATE; // samples of it that are free
const EVEN = { boundaries: 8, least: 0.01, most: 1.2, share: 0.8, near: 0.6 };

/**
 * Places frames by the clock of the container, so that times in the output are those a player shows: silence where packets were lost, were never sent
 * or begin late, whether in one leap or by many small ones. What does not last for the second looked ahead is jitter and changes nothing. A leap back is a
 * clock set anew, and so is one ahead by more than a pause can last. Frames that all come later than the one before by the same share of their length
 * have a clock that is wrong, and nothing is missing between them.
 */
export class Clock {
  #longest: number;
  #longestPause: number;
  #waiting: Frame[] = [];
  #ahead = 0; // samples in `#waiting`
  #honoured = 0; // lag that the output has already, or that is not believed
  #before: number | null = null; // lag of the frame before
  #placed = 0; // samples of the output
  #skipped = 0;
  #isEven = false;

  /**
   * @param longest samples that the output may have
   * @param longestPause samples: a longer leap is a clock set anew
   */
  constructor(longest: number, longestPause = longest) {
    this.#longest = longest;
    this.#longestPause = longestPause;
  }

  /** Takes a frame; gives those whose place is certain. */
  *push(frame: Frame): Generator<Placed> {
    this.#waiting.push(frame);
    this.#ahead += frame.count;
    while (this.#waiting.length > 1 && (this.#ahead - this.#waiting[0]!.count >= AHEAD || this.#waiting.length > FRAMES))
      yield this.#next();
  }

  /** The rest, when no more will come. */
  *end(): Generator<Placed> {
    while (this.#waiting.length) yield this.#next();
  }

  #next(): Placed {
    const foreseen = this.#ahead >= AHEAD || this.#waiting.length > FRAMES;
    const [least, most] = this.#errors();
    if (foreseen) this.#isEven = least >= NOTICED && isEven(this.#waiting);
    const head = this.#waiting[0]!;
    let [silence, skip] = [0, 0];
    if (least >= (foreseen || this.#isEven ? NOTICED : NEAR_END)) silence = this.#missing(least);
    else if (most <= -NOTICED) skip = this.#surplus(head, -most);
    this.#before = head.lag;
    this.#waiting.shift();
    this.#ahead -= head.count;
    this.#placed += silence + head.count - skip;
    return { ...head, silence, skip };
  }

  /** By how much the frames that wait are late, at least and at most, samples. */
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
    const leapt = this.#before !== null && head.lag - this.#before <= -NOTICED / 2;
    const skip = Math.min(early, head.count);
    if (leapt || this.#skipped + skip > MOST_DRIFT * this.#placed + GRACE) {
      this.#honoured -= early;
      return 0;
    }
    this.#honoured -= skip;
    this.#skipped += skip;
    return skip;
  }
}

/** Whether every frame is late by about the same part of the length of the one before it. */
function isEven(frames: readonly Frame[]): boolean {
  const steps = frames.slice(1).map(({ lag }, i) => lag - frames[i]!.lag);
  if (steps.length < EVEN.boundaries) return false;
  const samples = frames.reduce((sum, { count }) => sum + count, 0) - frames.at(-1)!.count;
  const grown = frames.at(-1)!.lag - frames[0]!.lag;
  if (grown < EVEN.least * samples || grown > EVEN.most * samples) return false;
  const mean = grown / steps.length;
  return steps.filter((step) => Math.abs(step - mean) <= EVEN.near * mean).length >= EVEN.share * steps.length;
}
