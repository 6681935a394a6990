import { join } from 'node:path';
import { float32, int64, openSession, type Session } from '../../runtime/session.ts';
import type { Features } from '../features/log-mel.ts';
import { openPieces, type Piece } from '../frames/pieces.ts';
import { portOf } from '../frames/ports.ts';
import { type FrameNetworks, frameRecogniser } from '../frames/recogniser.ts';
import type { Emission } from '../frames/words.ts';
import type { OpenRecogniser, RecogniserOptions } from '../recogniser.ts';
import { beamSearch } from './beam.ts';
import { greedy } from './greedy.ts';
import { isStream, openStream } from './stream.ts';
import { Vocabulary } from './vocabulary.ts';

/** CTC models: one network from features to the tokens' probabilities in each frame. */
export const openCtc: OpenRecogniser<'ctc'> = async (options) =>
  frameRecogniser(options.folder, options.descriptor, await openNetwork(options));

/** Loads the network. Decoding is greedy without a vocabulary, else by beam search. */
export async function openNetwork({ folder, descriptor, device }: RecogniserOptions<'ctc'>): Promise<FrameNetworks> {
  const { networks, tokens, subsampling, delay } = descriptor;
  const path = join(folder, networks.model);
  const session = await openSession(path, { device });
  const logitsOf = isStream(session) ? streamed(session) : whole(session, path, subsampling);
  const vocabularyOf = vocabularies(await openPieces(folder));
  return {
    device: session.device,
    tokens: async (features, terms, check) => {
      const { logits, frames, width } = await logitsOf(features, check);
      const found = [logits, frames, width, tokens.blank] as const;
      check();
      const emissions = terms.trim() ? beamSearch(...found, vocabularyOf(terms)) : greedy(...found);
      return delay ? emissions.map((emission) => earlier(emission, delay)) : emissions;
    },
    close: () => session.close(),
  };
}

/** Logits [frames x width] of a window's features. */
type LogitsOf = (features: Features, check: () => void) => Promise<{ logits: Float32Array; frames: number; width: number }>;

/** A network that takes a window at once. */
function whole(session: Session, path: string, subsampling: number): LogitsOf {
  const [signal, length, logits] = [portOf(session, 'signal', path), portOf(session, 'length', path), portOf(session, 'logits', path)];
  return async ({ values, bins, frames }) => {
    const feeds = { [signal]: float32(values, [1, bins, frames]), [length]: int64(BigInt64Array.of(BigInt(frames)), [1]) };
    const { data, dims } = (await session.run(feeds, { [logits]: null }))[logits]!;
    const valid = Math.min(dims[1]!, Math.floor((frames - 1) / subsampling) + 1);
    return { logits: data as Float32Array, frames: valid, width: dims[2]! };
  };
}

/** A network that takes it piece by piece. */
function streamed(session: Session): LogitsOf {
  const stream = openStream(session);
  return async ({ values }, check) => {
    const { logits, frames, tokens } = await stream.run(values, check);
    return { logits, frames, width: tokens };
  };
}

function earlier({ first, end, ...rest }: Emission, frames: number): Emission {
  return { ...rest, first: Math.max(0, first - frames), end: Math.max(1, end - frames) };
}

/** Vocabularies for a model's tokens; keeps the last one, because the windows of a file have the same. */
function vocabularies(pieces: readonly Piece[]): (terms: string) => Vocabulary {
  let last: { terms: string; vocabulary: Vocabulary } | undefined;
  return (terms) => {
    if (last?.terms !== terms) last = { terms, vocabulary: new Vocabulary(terms, pieces) };
    return last.vocabulary;
  };
}
