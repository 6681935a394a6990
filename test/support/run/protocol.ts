/** What a process says of a test file that is done. */
export interface Done {
  /** Processor seconds, those of the programs it started and waited for included. */
  cpuSeconds: number;
}

/** Sent instead of the next file: there is none. */
export const END = '';
