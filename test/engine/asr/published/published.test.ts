/* Models with random weights in the layout of onnx-asr: the tokens must equal those of onnx-asr, which make.py stored. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { DATA } from '../../../../bench/recordings/clips.ts';
import { openNetwork } from '../../../../engine/asr/ctc/recogniser.ts';
import { examine } from '../../../../engine/asr/examine.ts';
import { type FeatureKind, type Features, HOP, openFrontEnd } from '../../../../engine/asr/features/log-mel.ts';
import type { FrameNetworks } from '../../../../engine/asr/frames/recogniser.ts';
import { openNetworks } from '../../../../engine/asr/transducer/recogniser.ts';
import { SAMPLE_RATE } from '../../../../engine/types.ts';
import type { FrameDescriptor } from '../../../../models/descriptor.ts';
import { importPublished } from '../../../../models/published/importing.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const expected = JSON.parse(readFileSync(join(HERE, 'expected.json'), 'utf8')) as Record<
  string,
  Record<string, { tokens: number[]; seconds: number[] }>
>;

function samplesOf(clip: string, rate: number): Float32Array {
  const command = ['-v', 'error', '-i', join(DATA, clip), '-ac', '1', '-ar', `${rate}`, '-t', '12', '-f', 'f32le', '-'];
  return new Float32Array(new Uint8Array(execFileSync('ffmpeg', command, { maxBuffer: 2 ** 26 })).buffer);
}

function networksOf(folder: string, descriptor: FrameDescriptor): Promise<FrameNetworks> {
  const device = 'cpu' as const;
  return descriptor.architecture === 'ctc'
    ? openNetwork({ folder, descriptor, device, rows: 1 })
    : openNetworks({ folder, descriptor, device, rows: 1 });
}

/** Features of a clip, by its name. onnx-asr got samples at 8 kHz from ffmpeg, so that its own resampling is not compared. */
function featuresOf(kind: FeatureKind): (clip: string) => Features {
  if (kind !== 'samples8k') {
    const front = openFrontEnd(kind);
    return (clip) => front(samplesOf(clip, SAMPLE_RATE));
  }
  return (clip) => {
    const values = samplesOf(clip, SAMPLE_RATE / 2);
    return { bins: 1, frames: values.length, values };
  };
}

for (const [kind, clips] of Object.entries(expected)) {
  t.test(`tokens() of the ${kind} model equals the output of onnx-asr, timestamps included`, async (t) => {
    const model = await importPublished(join(HERE, kind), { home: t.testdir(), name: kind, languages: ['en'], examine });
    const descriptor = model.descriptor as FrameDescriptor;
    const networks = await networksOf(model.folder, descriptor);
    t.teardown(() => networks.close());
    const features = featuresOf(descriptor.features);
    const delay = descriptor.architecture === 'ctc' ? descriptor.delay : 0;
    for (const [clip, { tokens, seconds }] of Object.entries(clips)) {
      const found = await networks.tokens(features(clip), '', () => {});
      t.ok(tokens.length > 20);
      t.strictSame(
        found.map(({ token }) => token),
        tokens,
        clip,
      );
      const times = found.map(({ first }) => Math.round((first * descriptor.subsampling * HOP * 1000) / SAMPLE_RATE) / 1000);
      const frame = (descriptor.subsampling * HOP) / SAMPLE_RATE;
      const wanted = delay ? seconds.map((second) => Math.max(0, Math.round(1000 * (second - delay * frame)) / 1000)) : seconds;
      t.strictSame(times, wanted, `${clip}: times`);
    }
  });
}
