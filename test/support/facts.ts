import type { Facts } from '../../engine/asr/whisper/model.ts';

/** Of a model so small that its tokens can be counted: 10 words, end-of-text 10, instructions 11 to 19, timestamps 20 to 29. */
export const FACTS = {
  vocabulary: 30,
  endOfText: 10,
  startOfTranscript: 11,
  firstTimestamp: 20,
  latestStart: 2,
  suppressed: [3],
  suppressedAtStart: [0, 10],
} as unknown as Facts;
