import { join } from 'node:path';
import t from 'tap';
import { englishClips } from '../../../../bench/recordings/clips.ts';
import { samplesOf } from '../../../../bench/recordings/sound.ts';
import type { Encoded } from '../../../../engine/asr/whisper/decoding/batch.ts';
import { Decoder } from '../../../../engine/asr/whisper/decoding/decode.ts';
import { encode } from '../../../../engine/asr/whisper/encode.ts';
import { FRAME_SAMPLES, foldedFrames, MARGIN_SAMPLES } from '../../../../engine/asr/whisper/frames.ts';
import { openWhisper, WINDOW_STEPS, windowSeconds } from '../../../../engine/asr/whisper/model.ts';
import { WEIGHTS } from '../../../../engine/asr/whisper/timing/attention-store.ts';
import { float32 } from '../../../../engine/runtime/session.ts';
import { SAMPLE_RATE } from '../../../../engine/types.ts';
import { readWhisper } from '../../../../models/descriptor.ts';
import { SHIPPED_FOLDER } from '../../../../models/manifest.ts';

const SEEN = 1000; // encoder steps of a short window

const MODEL = join(SHIPPED_FOLDER, 'whisper-base');
const model = await openWhisper(MODEL, readWhisper(MODEL));
t.teardown(() => model.close());
const clip = englishClips().find(({ file, seconds }) => file.includes('librispeech') && seconds > 5 && seconds < 9)!; // loud enough not to be amplified
const samples = await samplesOf(clip.path);
const speech = [{ start: 0, end: samples.length / SAMPLE_RATE }];

/** Compares bytes: comparing arrays of millions of values one by one takes minutes. */
function same(a: ArrayBufferView, b: ArrayBufferView): boolean {
  const bytes = ({ buffer, byteOffset, byteLength }: ArrayBufferView) => Buffer.from(buffer, byteOffset, byteLength);
  return bytes(a).equals(bytes(b));
}

t.test('encode() processes a short window with part of its padding, and returns the layout of a full one', async (t) => {
  const { heads, headWidth } = model.facts;
  const sound = new Float32Array(SEEN * model.facts.samplesPerStep + 2 * MARGIN_SAMPLES);
  sound.set(samples, MARGIN_SAMPLES);
  const frames = foldedFrames(sound, model.facts.samplesPerStep / 2, new Float32Array(2 * SEEN * FRAME_SAMPLES));
  const said = await model.encoder.run({ frames: float32(frames, [1, 4, 2 * SEEN, FRAME_SAMPLES / 4]) });
  const found = await encode({ samples, speech }, model);
  t.strictSame(found.ck5!.dims, [1, heads, 1, WINDOW_STEPS / 250, headWidth, 250]);
  t.strictSame(found.cv0!.dims, [1, heads, WINDOW_STEPS / 2, headWidth]); // a layer that attends to means of two frames
  for (const [name, rows, rest] of [
    ['ck0', heads, 0],
    ['cv0', heads, 0],
    ['cs0', heads, 1e7],
    ['ck5', heads, 0],
    ['cv5', heads, 0],
    ['cs5', heads, 1e7],
  ] as const) {
    const [laid, short] = [found[name]!.data as Float32Array, said[name]!.data as Float32Array];
    const [each, head] = [laid.length / rows, short.length / rows];
    const all = Array.from({ length: rows }, (_, row) => row);
    t.ok(
      all.every((row) => same(laid.subarray(row * each, row * each + head), short.subarray(row * head, (row + 1) * head))),
      name,
    );
    t.ok(
      all.every((row) => laid.subarray(row * each + head, (row + 1) * each).every((value) => value === rest)),
      `${name} after it`,
    );
  }
  t.ok(same(found.ksc5!.data as Float32Array, said.ksc5!.data as Float32Array));
});

t.test('encode() processes a part of a window with less padding', async (t) => {
  const { heads } = model.facts;
  const seen = async (seconds: number, part: boolean) => {
    const said = await encode({ samples: samples.subarray(0, seconds * SAMPLE_RATE), speech, part }, model);
    const sums = said.cs5!.data as Float32Array;
    return sums.subarray(0, sums.length / heads).indexOf(1e7);
  };
  t.equal(await seen(1.5, false), SEEN);
  t.equal(await seen(1.5, true), 250);
  t.equal(await seen(5, true), 300, 'its second of padding included');
});

t.test('encode() clears reused memory after a longer window', async (t) => {
  const seconds = windowSeconds(model.facts);
  t.equal(seconds, 33);
  const long = new Float32Array(seconds * SAMPLE_RATE).map((_, i) => Math.sin(i / 20) / 4);
  const fresh = await encode({ samples, speech }, model);
  const used = await encode({ samples, speech }, model, await encode({ samples: long, speech: [{ start: 0, end: seconds }] }, model));
  for (const name of model.cross) t.ok(same(used[name]!.data as Float32Array, fresh[name]!.data as Float32Array), name);
});

t.test('encode() masks the padding that the encoder has not processed', async (t) => {
  const options = { timestamps: true, speechAware: true, beamSize: 1, temperature: 0 };
  const source = (into?: Encoded) => encode({ samples, speech }, model, into);
  const request = { file: 1, source, options, language: 'en', expected: null, prompt: [], speech, check: () => {} };
  const { attention } = await new Decoder(model, 2).decode(request);
  const looked = attention.flatMap((shares) => {
    const weights = Float32Array.from(shares, (share) => WEIGHTS[share]!);
    const heads = weights.length / WINDOW_STEPS;
    return Array.from({ length: heads }, (_, head) => weights.slice(head * WINDOW_STEPS, (head + 1) * WINDOW_STEPS));
  });
  t.ok(looked.length > 5 * 8, `${looked.length} rows`);
  const sum = (values: Float32Array) => values.reduce((a, b) => a + b, 0);
  t.ok(Math.max(...looked.map((row) => sum(row.slice(SEEN)))) < 1e-6);
  t.ok(Math.min(...looked.map((row) => sum(row.slice(0, SEEN)))) > 0.95);
});
