import type { Facts } from '../../../engine/asr/whisper/model.ts';
import { WHISPER_BASE_THRESHOLDS } from '../../../models/thresholds.ts';

/** Facts of a minimal model: text tokens 0 to 9, end-of-text 10, special tokens 11 to 19, timestamps 20 to 29. */
export const FACTS = {
  vocabulary: 30,
  endOfText: 10,
  startOfTranscript: 11,
  firstTimestamp: 20,
  latestStart: 2,
  suppressed: [3],
  suppressedAtStart: [0, 10],
  thresholds: WHISPER_BASE_THRESHOLDS,
} as unknown as Facts;
