/** What a writer has done since it was opened, for the metrics: numbers only. */
export interface Figures {
  /** Calls of the language model by outcome: `ok`, `invalid` (an answer of no use), `adapted` (asked again with less), `too_long`, `cancelled`, or what failed. */
  calls: Record<string, number>;
  promptTokens: number;
  completionTokens: number;
  /** Of calls, good and bad. */
  seconds: number;
  /** Invented quotations and times that were removed. */
  dropped: number;
}

export function newFigures(): Figures {
  return { calls: {}, promptTokens: 0, completionTokens: 0, seconds: 0, dropped: 0 };
}
