/** Decoders that a hybrid model has both of. */
export const DECODERS = ['ctc', 'transducer'] as const;
export type Decoder = (typeof DECODERS)[number];
