/** Samples per second of decoded audio: the rate of every model. */
export const SAMPLE_RATE = 16_000;
