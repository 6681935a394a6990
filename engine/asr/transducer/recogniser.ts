import { join } from 'node:path';
import { float32, int64, openSession } from '../../runtime/session.ts';
import { portOf } from '../frames/ports.ts';
import { type FrameNetworks, frameRecogniser } from '../frames/recogniser.ts';
import type { OpenRecogniser, RecogniserOptions } from '../recogniser.ts';
import { greedy } from './greedy.ts';
import { joinsSeveral, openJoint } from './joint.ts';

const AHEAD = { rnnt: 8, tdt: 4 }; // frames joined at once: RNN-T writes several blanks between tokens, TDT skips most of them

/** RNN-T and TDT models: an encoder, then predictor and joint for each token. */
export const openTransducer: OpenRecogniser<'transducer'> = async (options) =>
  frameRecogniser(options.folder, options.descriptor, await openNetworks(options));

/** Loads encoder, predictor and joint. */
export async function openNetworks({ folder, descriptor, device }: RecogniserOptions<'transducer'>): Promise<FrameNetworks> {
  const { networks, tokens, durations, tokensPerFrame } = descriptor;
  const path = join(folder, networks.encoder);
  const encoder = await openSession(path, { device });
  const decoder = await openSession(join(folder, networks.decoderJoint), { device });
  const [signal, length] = [portOf(encoder, 'signal', path), portOf(encoder, 'length', path)];
  const [encoded, lengths] = [portOf(encoder, 'encoded', path), portOf(encoder, 'encodedLength', path)];
  const joint = openJoint(decoder);
  const ahead = joinsSeveral(decoder) ? AHEAD[durations ? 'tdt' : 'rnnt'] : 1;
  const transducer = { tokens: tokens.count, blank: tokens.blank, durations, tokensPerFrame, ahead };
  return {
    device: encoder.device,
    tokens: async ({ values, bins, frames }, _vocabulary, check) => {
      const feeds = { [signal]: float32(values, [1, bins, frames]), [length]: int64(BigInt64Array.of(BigInt(frames)), [1]) };
      const found = await encoder.run(feeds, { [encoded]: null, [lengths]: null });
      const { data, dims } = found[encoded]!;
      const valid = Math.min(dims[2]!, Number(found[lengths]!.data[0]));
      return greedy(cropped(data as Float32Array, dims[2]!, valid), valid, joint, transducer, check);
    },
    close: async () => {
      await encoder.close();
      await decoder.close();
    },
  };
}

/** The first frames of [width x frames]. */
function cropped(values: Float32Array, frames: number, wanted: number): Float32Array {
  if (frames === wanted) return values;
  const width = values.length / frames;
  const kept = new Float32Array(width * wanted);
  for (let row = 0; row < width; row++) kept.set(values.subarray(row * frames, row * frames + wanted), row * wanted);
  return kept;
}
