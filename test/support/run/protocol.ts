/** Message of a process about a finished test file. */
export interface Done {
  /** CPU seconds, including those of reaped child processes. */
  cpuSeconds: number;
}

/** Milliseconds that a file may take, on a busy machine. Not a constant: --long sets the variable after this file is loaded. */
export const patienceMs = () => Number(process.env.TEST_PATIENCE_MS ?? 1_500_000);

/** Sent instead of the next file: there is none. */
export const END = '';
