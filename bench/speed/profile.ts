import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Decoder } from '../../engine/asr/whisper/decoding/decode.ts';
import { openWhisper, windowSeconds } from '../../engine/asr/whisper/model.ts';
import { recognise } from '../../engine/asr/whisper/recognise.ts';
import { openTokenizer } from '../../engine/asr/whisper/tokenizer.ts';
import { packingFor } from '../../engine/asr/windows.ts';
import { WINDOW_SAMPLES as HEARD, HOP_SAMPLES, SPEECH_STEP_FRAMES, WINDOWS_PER_BATCH } from '../../engine/diarization/pyannote.ts';
import { segment } from '../../engine/diarization/segmentation.ts';
import { openSession } from '../../engine/runtime/session.ts';
import { readWhisper } from '../../models/descriptor.ts';
import { segmentationNetwork } from '../../models/networks.ts';
import { joined } from '../recordings/conversations.ts';
import { SAMPLE_RATE } from '../recordings/sound.ts';
import { scratchFolder } from '../scratch.ts';

/** Profile of recognition: seconds of one thread per hour of audio. */
export interface Profile {
  seconds: number;
  /**
   * Operators of the models, slowest first; the rest of `seconds` is JavaScript (5 % in a V8 profile), copying and profiling.
   */
  parts: { network: string; operator: string; seconds: number }[];
}

/** An entry of onnxruntime's profile. */
interface Event {
  name: string;
  dur: number; // microseconds
  args?: { op_name?: string };
}

const WINDOWS = 9;
const STEP = SPEECH_STEP_FRAMES * HOP_SAMPLES; // between windows of the segmentation model

/** Recognises a few minutes of joined speech on one thread while onnxruntime profiles every operator, which has a small overhead. */
export async function measureProfile(models: { whisper: string; diarization: string }): Promise<Profile> {
  const folder = scratchFolder('profile');
  try {
    const model = await openWhisper(models.whisper, readWhisper(models.whisper), { profile: folder });
    const full = Math.floor(packingFor(windowSeconds(model.facts)).longest);
    const samples = (await joined(WINDOWS * full)).samples.subarray(0, WINDOWS * full * SAMPLE_RATE);
    const network = await segmentationNetwork(join(models.diarization, 'segmentation-3.0.onnx'));
    const segmentation = await openSession(network, { profile: join(folder, 'segmentation') });
    const recogniser = { model, tokenizer: await openTokenizer(models.whisper), decoder: new Decoder(model, WINDOWS - 1) };
    const started = performance.now();
    const heard = Array.from({ length: Math.ceil(samples.length / STEP) }, (_, i) => samples.subarray(i * STEP, i * STEP + HEARD));
    for (let i = 0; i < heard.length; i += WINDOWS_PER_BATCH) await segment(segmentation, heard.slice(i, i + WINDOWS_PER_BATCH));
    const windows = Array.from({ length: WINDOWS }, (_, i) => samples.subarray(i * full * SAMPLE_RATE, (i + 1) * full * SAMPLE_RATE));
    const speech = [{ start: 0, end: full }];
    const order = { job: 1, speech, peak: 1, language: 'en', expected: null, vocabulary: '', accurate: false };
    await Promise.all(windows.map((samples) => recognise({ ...order, samples }, recogniser, () => {})));
    const seconds = (performance.now() - started) / 1000;
    await model.close();
    await segmentation.close();
    const hours = samples.length / SAMPLE_RATE / 3600;
    return { seconds: seconds / hours, parts: await parts(folder, hours) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Sums onnxruntime's profiles in a folder, by model and operator. */
async function parts(folder: string, hours: number): Promise<Profile['parts']> {
  const sums = new Map<string, number>();
  for (const name of await readdir(folder)) {
    const network = name.split('_')[0]!;
    for (const { name: node, dur, args } of JSON.parse(await readFile(join(folder, name), 'utf8')) as Event[]) {
      if (!node.endsWith('_kernel_time') || args?.op_name === 'Scan') continue; // operators in its body are counted separately
      const key = `${network} ${args?.op_name}`;
      sums.set(key, (sums.get(key) ?? 0) + dur / 1e6 / hours);
    }
  }
  const found = [...sums].map(([key, seconds]) => ({ network: key.split(' ')[0]!, operator: key.split(' ')[1]!, seconds }));
  return found.sort((a, b) => b.seconds - a.seconds);
}
