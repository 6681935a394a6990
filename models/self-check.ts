import type { Weights } from './build/graph/graph.ts';
import { Checkpoint } from './build/whisper/safetensors.ts';
import type { Check } from './descriptor.ts';
import { readsBinsInOrder } from './inspect.ts';

/** What was measured of a built model on clips that ship. `confidence`: mean probability of the words it wrote. */
export type Measured = Omit<Check, 'reference'> & { confidence: number };

/** Measures the model in a folder. */
export type Measure = (folder: string) => Promise<Measured>;

const USELESS = 0.5; // error rate of the language it knows best
const APART = 0.015; // by which 8 bits may be worse than float32
const FEW_WORDS = 50; // a language with fewer tells nothing
const SURE = 0.6; // mean probability of words

/** Errors by words of all languages together. */
export function rateOf(rates: Check['rates']): number {
  const sum = (key: 'words' | 'errors') => rates.reduce((total, rate) => total + rate[key], 0);
  return sum('errors') / Math.max(1, sum('words'));
}

/** Whether a model in 8 bits is further from the same in float32 than chance explains. */
export function tooFarOff(rates: Check['rates'], reference: Check['rates']): boolean {
  return rateOf(rates) - rateOf(reference) > APART;
}

/**
 * Why a measured model must not be put into service, as a sentence that says what was found and what is probably wrong; null: it may.
 * @param checkpoint folder that it was built from, and its weights where they are open
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
    return 'its first layer reads the mel bins in no order, so it was trained on other mel filters, or not at all';
  if (confidence > SURE) return 'it is sure of what it writes, so tokenizer.json is probably that of another model';
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
