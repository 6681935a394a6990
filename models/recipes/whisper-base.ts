import type { Recipe } from '../descriptor.ts';

/** OpenAI Whisper base, multilingual, float16: the checkpoint that the shipped model is built from. */
export const CHECKPOINT = '2be218e4f1b5d055eee604bb1f92e17f5b36f316ff5366fb3db3a36c75258467';

/** Descriptor fields of the shipped model that do not follow from its checkpoint. */
export const ABOUT = { name: 'whisper-base', licence: 'MIT', source: 'OpenAI Whisper base, multilingual, float16; graphs by models/build' };

/**
 * The recipe of the shipped model, from measurements on its checkpoint only. Word error rates without and with each choice, in percent:
 *
 * | choice | joined speech | short clips | other languages | conversations | time |
 * |---|---|---|---|---|---|
 * | 11 ms between frames instead of 10: to the model, speech is 10 % faster at the same pitch, and a window has 33 s | 9.2, 9.2 | 9.9, 9.8
 * | 20.7, 20.0 | 12.3, 12.5 | recognition -7 % |
 * | decoder layers without alignment heads attend to the means of two frames | 9.2, 9.1 | 9.3, 8.9 | 21.9, 22.0 | | decoder -10 % |
 * | 22 of 48 encoder heads attend to means of distant frames | 9.1, 9.1 | 9.1, 8.8 | 19.7, 20.2 | | encoder -8 % |
 *
 * With 12 ms, other languages have 21.9 and conversations 13.1. Pooling the layers with alignment heads as well costs 0.5 percentage
 * points.
 */
export const WHISPER_BASE: Recipe = {
  hop: 176,
  pooledLayers: [0, 1, 2],
  coarseHeads: [[0, 1, 3, 4, 5, 6], [0, 1, 2, 4, 5, 6], [2, 6, 7], [0, 3, 5, 6, 7], [0, 1], []],
  rows: 10,
  buckets: [64, 128, 240, 448],
  scales: { values: 'plain', queries: 'tensor', rowwise: [] },
};
