/** A writer's counters since it was opened, for the metrics. Numbers only. */
export interface Figures {
  /**
   * Calls of the language model by outcome: `ok`, `invalid` (unusable answer), `adapted` (repeated with fewer features), `too_long`,
   * `cancelled`, or the failure.
   */
  calls: Record<string, number>;
  promptTokens: number;
  completionTokens: number;
  /** Duration of calls, successful or not. */
  seconds: number;
  /** Hallucinated quotations and times that were removed. */
  dropped: number;
}

export function newFigures(): Figures {
  return { calls: {}, promptTokens: 0, completionTokens: 0, seconds: 0, dropped: 0 };
}
