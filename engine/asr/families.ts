import type { Descriptor } from '../../models/descriptor.ts';
import type { OpenRecogniser } from './recogniser.ts';
import { openWhisperRecogniser } from './whisper/recogniser.ts';

/** The implementation of each architecture that a descriptor may name. A new family is a line here and a folder beside this file. */
const FAMILIES: Record<Descriptor['architecture'], OpenRecogniser> = { whisper: openWhisperRecogniser };

/** Opens a model by the architecture that its descriptor names. */
export const openRecogniser: OpenRecogniser = (options) => FAMILIES[options.descriptor.architecture](options);
