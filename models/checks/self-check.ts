import type { Weights } from '../build/graph/graph.ts';
import { Checkpoint } from '../build/whisper/safetensors.ts';
import type { Check } from '../descriptor.ts';
import { readsBinsInOrder } from './inspect-weights.ts';

/** Words and errors of one clip. */
export interface ClipErrors {
  words: number;
  errors: number;
}

/** Measurements of a built model on the shipped clips. */
export type Measured = Omit<Check, 'reference'> & {
  /** Mean probability of its words. */
  confidence: number;
  /** Every clip in the model's languages, always in the same order, as many as the time allowed. */
  clips: readonly ClipErrors[];
  /** CPU seconds of all threads per second of audio: unlike `rtfx`, hardly changed by other work on the machine. */
  cpuLoad: number;
};

/** Measures the model in a folder. Without `speed`, the speed is that in short clips, which is lower. */
export type Measure = (folder: string, options?: { speed?: boolean }) => Promise<Measured>;

const USELESS = 0.5; // error rate in its best language
const APART = 0.015; // difference accepted between 8 bits and float32
const ALWAYS_APART = 0.05; // difference that is not accepted even if one clip explains it
const WORSE = 0.003; // increase of the error rate accepted for a faster recipe
const DEVIATIONS = 1.64; // of the difference, if each clip's had a random sign: beyond them it is no chance (one-sided 5 %)
const FEW_WORDS = 50; // languages with fewer are ignored
const SURE = 0.6; // mean probability of words
const FEWEST_WORDS = 20; // the same for models of one or two languages, of which there are fewer clips
const SILENT = 0.05; // share of the recordings covered by words
const DOUBTFUL = 0.5; // mean probability of words, for models whose languages have no clips here; an estimate: no published model was measured

/** Errors per word over all languages. */
export function rateOf(rates: Check['rates']): number {
  const sum = (key: 'words' | 'errors') => rates.reduce((total, rate) => total + rate[key], 0);
  return sum('errors') / Math.max(1, sum('words'));
}

/** Part of a measurement to be kept. */
export function checkFrom({ confidence: _, clips: __, cpuLoad: ___, ...check }: Measured): Omit<Check, 'reference'> {
  return check;
}

/** Increase of the error rate over a reference, on the clips that both reached in time: a slow model reaches fewer. */
export function increase({ clips }: Pick<Measured, 'clips'>, reference: Pick<Measured, 'clips'>): number {
  const { errors, words } = difference(clips, reference.clips);
  return errors / Math.max(1, words);
}

/** Whether an 8-bit model differs from its float32 version by more than is accepted and than chance explains. */
export function tooFarOff({ clips }: Pick<Measured, 'clips'>, reference: Pick<Measured, 'clips'>): boolean {
  const { errors, words, deviation } = difference(clips, reference.clips);
  return errors > ALWAYS_APART * words || (errors > APART * words && errors > DEVIATIONS * deviation);
}

/**
 * Decrease of the words' mean probability that is not accepted for a faster recipe. An estimate from base and models of other sizes made from
 * it, on 430 words, where errors vary by 10 without order: 13 ms between frames loses 0.014, 15 ms 0.022; recipes that cost no accuracy on
 * thousands of words lose up to 0.007. Smaller losses are missed: 12 ms costs accuracy and loses 0.0035.
 */
const LESS_SURE = 0.01;
const BUSY = 1.1; // as much CPU time may a faster recipe take: measurements differ so much beside other work, and each does less by design

/**
 * Whether a faster recipe costs accuracy: more errors than chance explains, or, which tells apart smaller differences on as few words, less
 * probable words.
 */
export function costsAccuracy(faster: Measured, safe: Measured): boolean {
  const { errors, words, deviation } = difference(faster.clips, safe.clips);
  return (errors > WORSE * words && errors > DEVIATIONS * deviation) || safe.confidence - faster.confidence > LESS_SURE;
}

/** Whether a recipe that does less work takes more time, which not even other work on the machine explains. */
export function costsTime({ cpuLoad }: Pick<Measured, 'cpuLoad'>, fastest: Pick<Measured, 'cpuLoad'>): boolean {
  return cpuLoad > BUSY * fastest.cpuLoad;
}

/** Additional errors on the clips of both, their words, and the standard deviation of the errors if each clip's had a random sign. */
function difference(clips: readonly ClipErrors[], reference: readonly ClipErrors[]) {
  const both = clips.slice(0, reference.length).map(({ words, errors }, i) => ({ words, more: errors - reference[i]!.errors }));
  const sum = (value: (clip: { words: number; more: number }) => number) => both.reduce((total, clip) => total + value(clip), 0);
  return { errors: sum(({ more }) => more), words: sum(({ words }) => words), deviation: Math.sqrt(sum(({ more }) => more ** 2)) };
}

/**
 * Why a measured model must not be used, as a sentence with the finding and the probable cause; null if it may.
 * @param checkpoint folder it was built from, and its weights if they are open
 */
export function refusal(measured: Measured, checkpoint: string, weights?: Weights): string | null {
  const found = failure(measured.rates, FEW_WORDS);
  return found && `${found}: ${cause(measured, checkpoint, weights)}`;
}

/** The same for a CTC or transducer model. A model without clips in its languages is judged by its confidence. */
export function frameRefusal({ rates, coverage, confidence }: Measured): string | null {
  const untold = rates.reduce((sum, { words }) => sum + words, 0) < FEWEST_WORDS;
  const found = untold ? doubt(coverage, confidence) : failure(rates, FEWEST_WORDS);
  if (!found) return null;
  if (coverage < SILENT)
    return `${found}: it writes next to nothing, so its vocabulary names another token as the blank, or it was never trained`;
  if (confidence > SURE)
    return `${found}: its confidence is high, so its vocabulary probably belongs to another model, or its configuration to one with other features, or it was never trained`;
  return `${found}: its weights are damaged or were never trained`;
}

/** Finding for a model without clips in its languages, measured on English clips. */
function doubt(coverage: number, confidence: number): string | null {
  const percent = (share: number) => `${Math.round(100 * share)} %`;
  if (coverage < SILENT) return `its words cover ${percent(coverage)} of the speech`;
  return confidence < DOUBTFUL ? `the mean probability of its words is ${percent(confidence)}` : null;
}

/**
 * The error rate in the best language, if it is too high. Languages with fewer words than `least` are ignored, unless none has as many, as if a
 * large model is so slow here that the time was up after a clip.
 */
function failure(rates: Check['rates'], least: number): string | null {
  const enough = rates.filter(({ words }) => words >= least);
  const telling = enough.length ? enough : rates.filter(({ words }) => words > 0);
  const best = telling.reduce((a, b) => (b.errors / b.words < a.errors / a.words ? b : a), telling[0]!);
  if (!best || best.errors < USELESS * best.words) return null;
  return `of ${best.words} words in its best language (${best.language}) it got ${Math.min(best.errors, best.words)} wrong`;
}

function cause({ confidence, rates }: Measured, folder: string, weights?: Weights): string {
  if (!inOrder(folder, weights))
    return 'its first layer reads the mel bins in no particular order, so it was trained on other mel filters, or not at all';
  if (confidence > SURE) {
    const tested = rates.map(({ language }) => language).join(', ');
    return `its confidence is high, so tokenizer.json probably belongs to another model, or it was trained for another language than ${tested}, in which it cannot be checked here`;
  }
  return 'its weights are damaged or were never trained';
}

function inOrder(folder: string, weights?: Weights): boolean {
  if (weights) return readsBinsInOrder(weights);
  const checkpoint = new Checkpoint(folder);
  try {
    return readsBinsInOrder(checkpoint);
  } finally {
    checkpoint.close();
  }
}
