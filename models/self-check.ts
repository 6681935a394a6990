import type { Weights } from './build/graph/graph.ts';
import { Checkpoint } from './build/whisper/safetensors.ts';
import type { Check } from './descriptor.ts';
import { readsBinsInOrder } from './inspect.ts';

/** Measurements of a built model on the shipped clips. `confidence`: mean probability of its words. */
export type Measured = Omit<Check, 'reference'> & { confidence: number };

/** Measures the model in a folder. */
export type Measure = (folder: string) => Promise<Measured>;

const USELESS = 0.5; // error rate in its best language
const APART = 0.015; // difference accepted between 8 bits and float32
const FEW_WORDS = 50; // languages with fewer are ignored
const SURE = 0.6; // mean probability of words

/** Errors per word over all languages. */
export function rateOf(rates: Check['rates']): number {
  const sum = (key: 'words' | 'errors') => rates.reduce((total, rate) => total + rate[key], 0);
  return sum('errors') / Math.max(1, sum('words'));
}

/** Whether an 8-bit model differs from its float32 version by more than chance explains. */
export function tooFarOff(rates: Check['rates'], reference: Check['rates']): boolean {
  return rateOf(rates) - rateOf(reference) > APART;
}

/**
 * Why a measured model must not be used, as a sentence with the finding and the probable cause; null if it may.
 * @param checkpoint folder it was built from, and its weights if they are open
 */
export function refusal(measured: Measured, checkpoint: string, weights?: Weights): string | null {
  const telling = measured.rates.filter(({ words }) => words >= FEW_WORDS);
  const best = telling.reduce((a, b) => (b.errors / b.words < a.errors / a.words ? b : a), telling[0]!);
  if (!best || best.errors < USELESS * best.words) return null;
  const found = `of ${best.words} words in its best language (${best.language}) it got ${Math.min(best.errors, best.words)} wrong`;
  return `${found}: ${cause(measured, checkpoint, weights)}`;
}

function cause({ confidence }: Measured, folder: string, weights?: Weights): string {
  if (!inOrder(folder, weights))
    return 'its first layer reads the mel bins in no particular order, so it was trained on other mel filters, or not at all';
  if (confidence > SURE) return 'its confidence is high, so tokenizer.json probably belongs to another model';
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
