import type { Span } from '../../../types.ts';
import type { Facts } from '../model.ts';
import type { AttentionStore } from '../timing/attention-store.ts';
import type { Batch, Detail, Encoded, Prediction, Source } from './batch.ts';
import type { Missed, Vocabulary } from './vocabulary.ts';

/** How a window is decoded. */
export interface DecodingOptions {
  timestamps: boolean;
  /** Refuse end-of-text while speech is left, and jumps over speech; requires timestamps. */
  speechAware: boolean;
  /** Cut off loops and continue after them; requires timestamps and greedy decoding. Otherwise a loop ends the decoding. */
  pastLoops?: boolean;
  /** 1: greedy. */
  beamSize: number;
  /** 0: the most probable token. */
  temperature: number;
}

/** Language and no-speech probabilities from the first step of a window. */
export interface LanguageDetection {
  /** Probability of each language, by code; empty for English-only models. */
  languages: Map<string, number>;
  noSpeech: number;
}

/** The result of decoding a window. */
export interface DecodeResult extends LanguageDetection {
  language: string;
  tokens: number[];
  logProbs: number[];
  /** Attention [heads x frames] of every token and, unless cut off, of end-of-text; see `AttentionStore`. */
  attention: Uint8Array[];
  /** Mean log-probability of all tokens and end-of-text. */
  meanLogProb: number;
  /** Where a choice was overridden: indices of the timestamps at which speech was made to continue. */
  resumed: number[];
  /** Number of loops that were cut off before continuing; absent: none. */
  loops?: number;
  /** Terms of the vocabulary that were likely where greedy decoding chose another token; absent: none. */
  missed?: Missed;
  /** Set if the window may be decoded again. */
  encoded?: Encoded;
  /** It is in one of the languages to leave. */
  left?: boolean;
}

/** A request to decode a window. */
export interface DecodeRequest {
  /** The pool's job that it belongs to, for interleaving files. */
  file: number;
  /** Called when there is room in the batch. */
  source: Source;
  options: DecodingOptions;
  language: string | null;
  /** If the language is null: the recording's, used unless this window is clearly in another one. */
  expected: string | null;
  /** If the language is null: languages in which nothing is decoded. */
  leave?: readonly string[];
  /** Tokens of the prompt: terms of the vocabulary. */
  prompt: readonly number[];
  /** Terms that beams prefer. */
  vocabulary?: Vocabulary | null;
  speech: readonly Span[];
  /** Whether the window may be decoded again: then the encoder outputs are returned with the result, and are only kept in that case. */
  again?: (result: DecodeResult) => boolean;
  /** Throws if the file is cancelled; called at every step. */
  check: () => void;
  /** Takes priority: a window that is already encoded. */
  urgent?: boolean;
  /** Among the first windows of its file: takes priority over all others, in a row reserved for such. */
  first?: boolean;
}

/** One hypothesis in the batch; the decoder tracks its row. */
export interface Hypothesis {
  job: DecodeJob;
  /** The token fed at the next step. */
  feed: number;
  /** Instruction tokens to feed after it, before any token is chosen. */
  ahead: number[];
  tokens: number[];
  logProbs: number[];
  /** 12 KB per token, by far the largest part of a row's own memory. */
  attention: Uint8Array[];
  score: number;
  /** Indices of overridden tokens. */
  resumed: number[];
  /** Token counts at which a loop was cut off: a timestamp comes next. */
  cuts: number[];
  missed?: Missed;
}

/** One decoding in progress: one row, or one per beam. */
export interface DecodeJob {
  file: number;
  options: DecodingOptions;
  language: string;
  speech: readonly Span[];
  vocabulary?: Vocabulary | null;
  detection: LanguageDetection;
  limit: number; // tokens
  finished: Hypothesis[]; // finished hypotheses of beam search
  random: () => number;
}

/** A step of the batch: what is predicted, and what choosing the next tokens changes. */
export interface Step {
  facts: Facts;
  prediction: Prediction;
  /** Row of each hypothesis in `prediction`. */
  numbers: ReadonlyMap<Hypothesis, number>;
  /** Hypotheses by their current row in the batch. */
  rows: Hypothesis[];
  batch: Batch;
  shares: AttentionStore;
}

/** The error that the check of a request throws after its file has been cancelled. */
export function cancellation({ check }: Pick<DecodeRequest, 'check'>): { error: unknown } | null {
  try {
    check();
    return null;
  } catch (error) {
    return { error };
  }
}

/** Instruction tokens after <|startoftranscript|>. */
export function instructions(facts: Facts, language: string, timestamps: boolean): number[] {
  const token = facts.languages.get(language);
  const ask = token === undefined ? [] : [token, facts.transcribe];
  return timestamps ? ask : [...ask, facts.noTimestamps];
}

/** The result for a window that is left to another model: only its language. */
export function leftWindow(detection: LanguageDetection, language: string): DecodeResult {
  return { ...detection, language, tokens: [], logProbs: [], attention: [], meanLogProb: 0, resumed: [], left: true };
}

/**
 * Predictions that choosing the next token of a row requires. All text logits: for beam search, sampling or a vocabulary, or without
 * timestamps, where some text may not come first.
 */
export function detailOf({ job: { options, vocabulary }, tokens, ahead }: Hypothesis): Detail {
  if (ahead.length) return 'nothing';
  const all = options.beamSize > 1 || options.temperature > 0 || !!vocabulary || (tokens.length === 0 && !options.timestamps);
  return all ? 'logits' : 'text';
}
