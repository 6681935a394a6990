import type { Tensor } from '../../runtime/session.ts';
import type { Span } from '../../types.ts';
import type { Prediction } from './batch.ts';
import type { Facts } from './model.ts';
import { lseOf } from './sampling.ts';

/** The encoder's outputs for one window, by name. */
export type Encoded = Record<string, Tensor>;

/** Encodes a window, into the memory given if any is, or hands over what was encoded before. */
export type Source = (into?: Encoded) => Promise<Encoded>;

/** How a window is decoded. */
export interface DecodingOptions {
  timestamps: boolean;
  /** Refuse end-of-text while speech is left, and leaps over speech; needs timestamps. */
  speechAware: boolean;
  /** Cut a loop off and go on behind it; needs timestamps, and no beams. Else a loop ends the decoding. */
  pastLoops?: boolean;
  /** 1: greedy. */
  beamSize: number;
  /** 0: the most probable token. */
  temperature: number;
}

/** What the first step says about a window, before any choice. */
export interface LanguageDetection {
  /** Probability of each language, by code; empty for English-only models. */
  languages: Map<string, number>;
  noSpeech: number;
}

/** What one decoding of a window gave. */
export interface DecodeResult extends LanguageDetection {
  language: string;
  tokens: number[];
  logProbs: number[];
  /** Attention [heads x frames] of every token and, unless cut off, of end-of-text; see `AttentionStore`. */
  attention: Uint8Array[];
  /** Mean log-probability of all tokens and end-of-text. */
  meanLogProb: number;
  /** Where a choice was overruled: indices of the timestamps at which speech was made to go on. */
  resumed: number[];
  /** Loops that were cut off, after each of which it went on; absent: none. */
  loops?: number;
  /** Where the window may be decoded again. */
  encoded?: Encoded;
}

/** One decoding that is asked for. */
export interface DecodeRequest {
  /** The job of the pool that it belongs to: files take turns. */
  file: number;
  /** Called when there is room in the batch. */
  source: Source;
  options: DecodingOptions;
  language: string | null;
  /** With a null language: the recording's, kept unless this window is clearly in another one. */
  expected: string | null;
  /** Tokens of the vocabulary prompt. */
  prompt: readonly number[];
  speech: readonly Span[];
  /** Whether the window may be decoded again: then what the encoder said comes with the result, and need not be held till then. */
  again?: (result: DecodeResult) => boolean;
  /** Throws when the file is no longer wanted; called at every step. */
  check: () => void;
  /** Served before others: a window that is already encoded. */
  urgent?: boolean;
  /** Among the first windows of its file: served before all others, and in a row that is kept for such. */
  first?: boolean;
}

/** One hypothesis in the batch: its place there is kept by the decoder. */
export interface Hypothesis {
  job: DecodeJob;
  /** The token fed at the next step. */
  feed: number;
  /** Instructions fed at the steps after it; not until all are is a token chosen. */
  ahead: number[];
  tokens: number[];
  logProbs: number[];
  /** 12 KB a token, and it is by far the most that a row holds of its own. */
  attention: Uint8Array[];
  score: number;
  /** Indices of tokens that were overruled. */
  resumed: number[];
  /** Numbers of tokens at which a loop was cut off: a timestamp comes next. */
  cuts: number[];
}

/** One decoding under way: one row, or one per beam. */
export interface DecodeJob {
  file: number;
  options: DecodingOptions;
  language: string;
  speech: readonly Span[];
  detection: LanguageDetection;
  limit: number; // tokens
  finished: Hypothesis[]; // finished hypotheses of beam search
  random: () => number;
}

/** Tokens after <|startoftranscript|> that say what to do. */
export function instructions(facts: Facts, language: string, timestamps: boolean): number[] {
  const token = facts.languages.get(language);
  const ask = token === undefined ? [] : [token, facts.transcribe];
  return timestamps ? ask : [...ask, facts.noTimestamps];
}

/** Language and no-speech probabilities from the first step, in which next to no text is thought of: it may be left out. */
export function detectLanguage({ special, textLse }: Pick<Prediction, 'special' | 'textLse'>, facts: Facts): LanguageDetection {
  const at = (token: number) => special[token - facts.endOfText]!;
  const languages = new Map<string, number>();
  const all = lseOf([...facts.languages.values()].map(at));
  for (const [code, token] of facts.languages) languages.set(code, Math.exp(at(token) - all));
  return { languages, noSpeech: Math.exp(at(facts.noSpeech) - lseOf([...special, ...textLse])) };
}

const CLEARLY = 0.9; // probability, over …
const ENOUGH = 5; // seconds of speech: a window in another language than the rest

/** The language a window is decoded in: the most probable one, or the one expected where that is not clear. */
export function languageOf(detection: LanguageDetection, expected: string | null, speech: readonly Span[]): string {
  const { language, probability } = likeliest(detection.languages);
  const seconds = speech.reduce((sum, span) => sum + span.end - span.start, 0);
  return expected === null || (probability >= CLEARLY && seconds >= ENOUGH) ? language : expected;
}

/** The most probable key of a map, with its probability. English with certainty where the model knows no other. */
export function likeliest(languages: ReadonlyMap<string, number>): { language: string; probability: number } {
  let best = { language: 'en', probability: languages.size === 0 ? 1 : 0 };
  for (const [language, probability] of languages) if (probability > best.probability) best = { language, probability };
  return best;
}
