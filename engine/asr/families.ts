import type { Architecture } from '../../models/descriptor.ts';
import { openCtc } from './ctc/recogniser.ts';
import type { OpenRecogniser, Recogniser, RecogniserOptions } from './recogniser.ts';
import { openTransducer } from './transducer/recogniser.ts';
import { openWhisperRecogniser } from './whisper/recogniser.ts';

/** The implementation of each architecture in a descriptor. To add a family, add a line here and a folder beside this file. */
const FAMILIES: { [A in Architecture]: OpenRecogniser<A> } = {
  whisper: openWhisperRecogniser,
  ctc: openCtc,
  transducer: openTransducer,
};

/** Opens a model by the architecture in its descriptor. */
export function openRecogniser(options: RecogniserOptions): Promise<Recogniser> {
  const open = FAMILIES[options.descriptor.architecture] as OpenRecogniser<Architecture>;
  return open(options);
}
