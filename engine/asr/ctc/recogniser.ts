import { join } from 'node:path';
import { float32, int64, openSession } from '../../runtime/session.ts';
import { openPieces, type Piece } from '../frames/pieces.ts';
import { portOf } from '../frames/ports.ts';
import { type FrameNetworks, frameRecogniser } from '../frames/recogniser.ts';
import type { OpenRecogniser, RecogniserOptions } from '../recogniser.ts';
import { beamSearch } from './beam.ts';
import { greedy } from './greedy.ts';
import { Vocabulary } from './vocabulary.ts';

/** CTC models: one network from features to the tokens' probabilities in each frame. */
export const openCtc: OpenRecogniser<'ctc'> = async (options) =>
  frameRecogniser(options.folder, options.descriptor, await openNetwork(options));

/** Loads the network. Decoding is greedy without a vocabulary, else by beam search. */
export async function openNetwork({ folder, descriptor, device }: RecogniserOptions<'ctc'>): Promise<FrameNetworks> {
  const { networks, tokens, subsampling } = descriptor;
  const path = join(folder, networks.model);
  const session = await openSession(path, { device });
  const [signal, length, logits] = [portOf(session, 'signal', path), portOf(session, 'length', path), portOf(session, 'logits', path)];
  const vocabularyOf = vocabularies(await openPieces(folder));
  return {
    device: session.device,
    tokens: async ({ values, bins, frames }, terms, check) => {
      const feeds = { [signal]: float32(values, [1, bins, frames]), [length]: int64(BigInt64Array.of(BigInt(frames)), [1]) };
      const written = (await session.run(feeds, { [logits]: null }))[logits]!;
      const valid = Math.min(written.dims[1]!, Math.floor((frames - 1) / subsampling) + 1);
      const found = [written.data as Float32Array, valid, written.dims[2]!, tokens.blank] as const;
      check();
      return terms.trim() ? beamSearch(...found, vocabularyOf(terms)) : greedy(...found);
    },
    close: () => session.close(),
  };
}

/** Vocabularies for a model's tokens; keeps the last one, because the windows of a file have the same. */
function vocabularies(pieces: readonly Piece[]): (terms: string) => Vocabulary {
  let last: { terms: string; vocabulary: Vocabulary } | undefined;
  return (terms) => {
    if (last?.terms !== terms) last = { terms, vocabulary: new Vocabulary(terms, pieces) };
    return last.vocabulary;
  };
}
