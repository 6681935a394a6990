import { join } from 'node:path';
import { float32, int64, openSession } from '../../runtime/session.ts';
import { portOf } from '../frames/ports.ts';
import { type FrameNetworks, frameRecogniser } from '../frames/recogniser.ts';
import type { OpenRecogniser, RecogniserOptions } from '../recogniser.ts';
import { greedy } from './greedy.ts';

/** CTC models: one network from features to the tokens' probabilities in each frame. */
export const openCtc: OpenRecogniser<'ctc'> = async (options) =>
  frameRecogniser(options.folder, options.descriptor, await openNetwork(options));

/** Loads the network. */
export async function openNetwork({ folder, descriptor, device }: RecogniserOptions<'ctc'>): Promise<FrameNetworks> {
  const { networks, tokens, subsampling } = descriptor;
  const path = join(folder, networks.model);
  const session = await openSession(path, { device });
  const [signal, length, logits] = [portOf(session, 'signal', path), portOf(session, 'length', path), portOf(session, 'logits', path)];
  return {
    device: session.device,
    tokens: async ({ values, bins, frames }) => {
      const feeds = { [signal]: float32(values, [1, bins, frames]), [length]: int64(BigInt64Array.of(BigInt(frames)), [1]) };
      const written = (await session.run(feeds, { [logits]: null }))[logits]!;
      const valid = Math.min(written.dims[1]!, Math.floor((frames - 1) / subsampling) + 1);
      return greedy(written.data as Float32Array, valid, written.dims[2]!, tokens.blank);
    },
    close: () => session.close(),
  };
}
