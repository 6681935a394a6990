import { join } from 'node:path';
import type { DescriptorOf } from '../../../models/descriptor.ts';
import { type Device, float32, int64, openSession } from '../../runtime/session.ts';
import { portOf } from '../frames/ports.ts';
import { type FrameNetworks, frameRecogniser } from '../frames/recogniser.ts';
import type { OpenRecogniser, RecogniserOptions } from '../recogniser.ts';
import { greedy, type Joint } from './greedy.ts';
import { joinsSeveral, openJoint, openSeparate, SEPARATE, type State } from './joint.ts';

const AHEAD = { rnnt: 8, tdt: 4 }; // frames joined at once: RNN-T writes several blanks between tokens, TDT skips most of them

/** RNN-T and TDT models: an encoder, then predictor and joint for each token. */
export const openTransducer: OpenRecogniser<'transducer'> = async (options) =>
  frameRecogniser(options.folder, options.descriptor, await openNetworks(options));

/** Loads encoder, predictor and joint. */
export async function openNetworks({ folder, descriptor, device }: RecogniserOptions<'transducer'>): Promise<FrameNetworks> {
  const { networks, tokens, durations, tokensPerFrame } = descriptor;
  const path = join(folder, networks.encoder);
  const encoder = await openSession(path, { device });
  const decoder = await openDecoder(folder, decoderFiles(descriptor), device);
  const [signal, length] = [portOf(encoder, 'signal', path), portOf(encoder, 'length', path)];
  const [encoded, lengths] = [portOf(encoder, 'encoded', path), portOf(encoder, 'encodedLength', path)];
  const ahead = decoder.several ? AHEAD[durations ? 'tdt' : 'rnnt'] : 1;
  const transducer = { tokens: tokens.count, blank: tokens.blank, durations, tokensPerFrame, ahead };
  return {
    device: encoder.device,
    tokens: async ({ values, bins, frames }, _vocabulary, check) => {
      const feeds = { [signal]: float32(values, [1, bins, frames]), [length]: int64(BigInt64Array.of(BigInt(frames)), [1]) };
      const found = await encoder.run(feeds, { [encoded]: null, [lengths]: null });
      const { data, dims } = found[encoded]!;
      const valid = Math.min(dims[2]!, Number(found[lengths]!.data[0]));
      return greedy(cropped(data as Float32Array, dims[2]!, valid), valid, decoder.joint, transducer, check);
    },
    close: async () => {
      await encoder.close();
      await decoder.close();
    },
  };
}

export interface Decoder {
  joint: Joint<State>;
  /** Whether it joins several frames at once. */
  several: boolean;
  close(): Promise<void>;
}

/** The files of predictor and joint: one, or two. */
export function decoderFiles({ networks }: DescriptorOf<'transducer'>): string[] {
  return 'decoderJoint' in networks ? [networks.decoderJoint] : [networks.predictor, networks.joint];
}

/** Loads predictor and joint. */
export async function openDecoder(folder: string, files: readonly string[], device?: Device): Promise<Decoder> {
  const [first, second] = files as [string, string?];
  const predictor = await openSession(join(folder, first), { device });
  if (!second) return { joint: openJoint(predictor), several: joinsSeveral(predictor), close: () => predictor.close() };
  const session = await openSession(join(folder, second), { device });
  const close = async () => {
    await predictor.close();
    await session.close();
  };
  return { joint: openSeparate(predictor, session), several: joinsSeveral(session, SEPARATE.frames), close };
}

/** The first frames of [width x frames]. */
function cropped(values: Float32Array, frames: number, wanted: number): Float32Array {
  if (frames === wanted) return values;
  const width = values.length / frames;
  const kept = new Float32Array(width * wanted);
  for (let row = 0; row < width; row++) kept.set(values.subarray(row * frames, row * frames + wanted), row * wanted);
  return kept;
}
