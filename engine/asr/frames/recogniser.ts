import type { FrameDescriptor } from '../../../models/descriptor.ts';
import { levelsAboveRumble } from '../../loudness.ts';
import type { Device } from '../../runtime/session.ts';
import { SAMPLE_RATE } from '../../types.ts';
import { uncovered } from '../coverage.ts';
import { type Features, HOP, openFrontEnd } from '../features/log-mel.ts';
import type { RecognisedWindow, Recogniser, WindowRequest } from '../recogniser.ts';
import { toSound } from '../snap-words.ts';
import { Line } from './line.ts';
import { openPieces } from './pieces.ts';
import { type Emission, toWords } from './words.ts';

/** The sessions of a model that writes tokens frame by frame. */
export interface FrameNetworks {
  device: Device;
  /**
   * The tokens of a window of at least one frame, in order. Throws what `check` throws.
   * @param vocabulary names and terms to prefer, if the family can
   */
  tokens(features: Features, vocabulary: string, check: () => void): Promise<Emission[]>;
  close(): Promise<void>;
}

/** A recogniser around networks: features before them, words after. Windows have their own length: there is no padding. */
export async function frameRecogniser(folder: string, descriptor: FrameDescriptor, networks: FrameNetworks): Promise<Recogniser> {
  const front = openFrontEnd(descriptor.features);
  const pieces = await openPieces(folder);
  const line = new Line();
  const secondsPerFrame = (descriptor.subsampling * HOP) / SAMPLE_RATE;
  const hear = async (request: WindowRequest, check: () => void): Promise<RecognisedWindow> => {
    check();
    const features = front(request.samples);
    const emissions = features.frames ? await networks.tokens(features, request.vocabulary, check) : [];
    check();
    const words = toSound(
      toWords(emissions, pieces, secondsPerFrame, request.samples.length / SAMPLE_RATE),
      levelsAboveRumble(request.samples),
    );
    const meanLogProb = emissions.reduce((sum, { logProb }) => sum + logProb, 0) / Math.max(1, emissions.length);
    const languages = languagesHeard(descriptor.languages, request.language);
    return {
      words,
      language: languages[0]?.[0] ?? null,
      languages,
      noSpeech: 0,
      meanLogProb,
      tried: [],
      uncovered: uncovered(words, request.speech),
    };
  };
  return {
    device: networks.device,
    recognise: (request, check) => line.take(request, () => hear(request, check)),
    close: () => networks.close(),
  };
}

/** The model's only language, or the one asked for; none if it knows several and none of them was asked for. */
function languagesHeard(known: readonly string[], asked: string): [code: string, probability: number][] {
  if (known.length === 1) return [[known[0]!, 1]];
  return known.includes(asked) ? [[asked, 1]] : [];
}
