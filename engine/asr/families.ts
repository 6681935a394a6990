import type { Descriptor } from '../../models/descriptor.ts';
import type { OpenRecogniser } from './recogniser.ts';
import { openWhisperRecogniser } from './whisper/recogniser.ts';

/** The implementation of each architecture in a descriptor. To add a family, add a line here and a folder beside this file. */
const FAMILIES: Record<Descriptor['architecture'], OpenRecogniser> = { whisper: openWhisperRecogniser };

/** Opens a model by the architecture in its descriptor. */
export const openRecogniser: OpenRecogniser = (options) => FAMILIES[options.descriptor.architecture](options);
