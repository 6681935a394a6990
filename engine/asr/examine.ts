import { join } from 'node:path';
import type { FrameDescriptor } from '../../models/descriptor.ts';
import { SAMPLE_RATE } from '../../models/sample-rate.ts';
import { float32, int64, openSession } from '../runtime/session.ts';
import { isStream, openStream } from './ctc/stream.ts';
import { openFrontEnd } from './features/log-mel.ts';
import { portOf } from './frames/ports.ts';
import { openDecoder } from './transducer/recogniser.ts';

/** Files of a published model, before it has a descriptor. */
export interface Examinee extends Pick<FrameDescriptor, 'architecture' | 'features' | 'subsampling'> {
  /** The CTC model, or encoder and decoder_joint. */
  networks: readonly string[];
}

/**
 * Runs a second of noise through a published model, as its layout says. Throws what does not fit. Blocks the thread: for the command line.
 * @returns the width of its output: tokens, and durations of a TDT model
 */
export async function examine(folder: string, { architecture, networks, features, subsampling }: Examinee): Promise<number> {
  const path = join(folder, networks[0]!);
  const session = await openSession(path);
  try {
    if (isStream(session) !== (features === 'samples8k')) {
      const [taken, configured] = isStream(session) ? ['pieces of samples, as T-one does', 'features'] : ['features', 'T-one'];
      throw new Error(
        `${networks[0]} takes ${taken}, but config.json stands for ${configured}; they belong to different models: take all files from one`,
      );
    }
    if (isStream(session)) return (await openStream(session).run(new Float32Array(SAMPLE_RATE / 2), () => {})).tokens;
    const ports = architecture === 'ctc' ? (['logits'] as const) : (['encoded', 'encodedLength'] as const);
    const [signal, length, output] = [portOf(session, 'signal', path), portOf(session, 'length', path), portOf(session, ports[0], path)];
    if (ports[1]) portOf(session, ports[1], path);
    const noise = Float32Array.from({ length: SAMPLE_RATE }, (_, i) => Math.sin(i * i) / 10);
    const { values, bins, frames } = openFrontEnd(features)(noise);
    const accepted = session.dimensions(signal)[1];
    if (typeof accepted === 'number' && accepted > 0 && accepted !== bins)
      throw new Error(`${networks[0]} takes ${accepted} mel bins, but config.json stands for ${bins}; they belong to different models`);
    const feeds = { [signal]: float32(values, [1, bins, frames]), [length]: int64(BigInt64Array.of(BigInt(frames)), [1]) };
    const { dims, data } = (await session.run(feeds, { [output]: null }))[output]!;
    const [written, width] = (architecture === 'ctc' ? [dims[1], dims[2]] : [dims[2], dims[1]]) as [number, number];
    const wanted = Math.floor((frames - 1) / subsampling) + 1;
    if (Math.abs(written - wanted) > 1)
      throw new Error(
        `${networks[0]} writes ${written} frames for ${frames}, but config.json says one for ${subsampling} (subsampling_factor)`,
      );
    if (architecture === 'ctc') return width;
    const first = Float32Array.from({ length: width }, (_, i) => (data as Float32Array)[i * written]!);
    return await examineJoint(folder, networks.slice(1), first);
  } finally {
    await session.close();
  }
}

/** The width of a joint's output for one frame of its encoder. */
async function examineJoint(folder: string, files: readonly string[], frame: Float32Array): Promise<number> {
  const { joint, close } = await openDecoder(folder, files);
  try {
    return (await joint.run(frame, 1, 0, joint.start)).logits.length;
  } finally {
    await close();
  }
}
