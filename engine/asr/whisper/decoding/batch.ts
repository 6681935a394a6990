import type { Tensor } from '../../../runtime/session.ts';

/** The encoder's outputs for one window, by name. */
export type Encoded = Record<string, Tensor>;

/** Encodes a window, into the given memory if any, or returns earlier outputs. */
export type Source = (into?: Encoded) => Promise<Encoded>;

/** The decoder's prediction of the next token per row, before any rule; valid until the next step. */
export interface Prediction {
  /** Over the text tokens, without suppressed ones, [rows]: most probable id, its logit, and the log-sum-exp. */
  textId: BigInt64Array;
  textMax: Float32Array;
  textLse: Float32Array;
  /** Logits of the ids from end-of-text on: special tokens, then timestamps, [rows x X]. */
  special: Float32Array;
  /** Attention of the alignment heads, [rows x heads x frames]. */
  align: Float32Array;
  /** Logits of text, [rows x end-of-text]; only on request. */
  text?: Float32Array;
}

/**
 * How much of a row's prediction is needed: `nothing`, for a token that another one follows in any case; `special` omits the text logits,
 * which saves 50 % of the time of a single row; `logits` returns all of them.
 */
export type Detail = 'nothing' | 'special' | 'text' | 'logits';

/** The rows decoded together: a finished row can leave and another one join at any step. */
export interface Batch {
  readonly capacity: number;
  readonly size: number;
  /** Predictions were made ahead of their tokens: no row can join without delaying the others. */
  readonly ahead: boolean;
  /** Adds a window and returns its row. */
  add(source: Source): Promise<number>;
  /** The encoded window of a row, for adding it again, until released. */
  encoded(row: number): Encoded;
  /** Returns the memory of `encoded` for reuse. */
  release(encoded: Encoded): void;
  /** Adds a copy of a row: its window and its tokens. */
  fork(source: number): number;
  /** Copies the tokens of `source` to `row`; both have the same window. */
  follow(row: number, source: number): void;
  /** Drops the latest tokens of a row. */
  retreat(row: number, count: number): void;
  /** Removes a row; the last row moves to its place. */
  remove(row: number): void;
  /** Adds a token to each row and predicts the next. `details`: what is needed, per row. */
  step(tokens: readonly number[], details: readonly Detail[]): Promise<Prediction>;
  /** Adds several tokens to each of the rows from `first` on. Returns the predictions of these rows, one each. */
  prefill(first: number, tokens: readonly (readonly number[])[], detail: Detail): Promise<Prediction[]>;
}
