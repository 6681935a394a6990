import { ACCESS } from './access.ts';
import { AUDIO } from './audio.ts';
import type { Change } from './change.ts';
import { DIARIZATION } from './diarization.ts';
import { MODELS } from './models.ts';
import { PEOPLE } from './people.ts';
import { RECOGNITION } from './recognition.ts';
import { REST } from './rest.ts';
import { THRESHOLDS } from './thresholds.ts';
import { WORK } from './work.ts';

/** All changes in the order in which they are tested, the most harmful first. */
export const CHANGES: Change[] = [
  ...ACCESS,
  ...WORK,
  ...RECOGNITION,
  ...THRESHOLDS,
  ...DIARIZATION,
  ...MODELS,
  ...AUDIO,
  ...PEOPLE,
  ...REST,
];
