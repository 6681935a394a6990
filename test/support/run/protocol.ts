/** Message of a process about a finished test file. */
export interface Done {
  /** CPU seconds, including those of reaped child processes. */
  cpuSeconds: number;
}

/** Sent instead of the next file: there is none. */
export const END = '';
