import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkSizes, readConfig, readGeneration } from '../build/whisper/config.ts';
import { type Config, featuresSchema, readJson } from '../build/whisper/files.ts';
import { BINS, FFT, HOP, melFilters } from '../build/whisper/mel.ts';
import { Checkpoint } from '../build/whisper/safetensors.ts';
import { SAMPLE_RATE } from '../sample-rate.ts';
import { tokenFindings } from './inspect-tokens.ts';
import { outputFindings, weightFindings } from './inspect-weights.ts';

/** Checks a checkpoint before anything is built from it. */

const FILTER_ERROR = 0.05; // relative to the largest weight of a mel filter
const HEAD = 64; // channels of an attention head
const WIDTHS = [384, 512, 768, 1024, 1280]; // channels of OpenAI's models, which all have such heads
const PREPROCESSOR = 'preprocessor_config.json';

/** Returns one sentence per problem; none: it may be built. Throws if a file is damaged, or the weights are not those of config.json. */
export function inspect(folder: string): string[] {
  const config = readConfig(folder);
  const { generation } = readGeneration(folder, config);
  const checkpoint = new Checkpoint(folder);
  try {
    checkSizes(checkpoint, config);
    return [
      ...configFindings(config, checkpoint.names()),
      ...featureFindings(folder, config.num_mel_bins),
      ...tokenFindings(folder, config, generation),
      ...weightFindings(checkpoint, config.vocab_size),
      ...(config.tie_word_embeddings === false ? outputFindings(checkpoint) : []),
    ];
  } finally {
    checkpoint.close();
  }
}

/** Problems of config.json that the sizes of the weights do not show. */
function configFindings(config: Config, names: readonly string[]): string[] {
  const different = 'they belong to different models';
  for (const side of ['encoder', 'decoder'] as const) {
    const { [`${side}_layers` as const]: layers, [`${side}_attention_heads` as const]: heads, d_model: width } = config;
    const pattern = new RegExp(`^(?:model\\.)?${side}\\.layers\\.(\\d+)\\.`);
    const found = names.reduce((most, name) => Math.max(most, Number(pattern.exec(name)?.[1] ?? -1) + 1), 0);
    if (found > layers) return [`config.json says ${side}_layers ${layers}, the weights have ${found}: ${different}`];
    if (WIDTHS.includes(width) && heads * HEAD !== width)
      return [`config.json says ${side}_attention_heads ${heads}, a Whisper of ${width} channels has ${width / HEAD}: ${different}`];
  }
  return [];
}

/** Problems of the features that the model was trained on. */
function featureFindings(folder: string, bins: number): string[] {
  if (!existsSync(join(folder, PREPROCESSOR))) return [];
  const { feature_size: size, mel_filters: given, ...spectrum } = readJson(folder, PREPROCESSOR, featuresSchema);
  if (size !== undefined && size !== bins)
    return [`${PREPROCESSOR} is for ${size} mel bins, config.json for ${bins}: they belong to different models`];
  for (const [key, wanted] of Object.entries({ sampling_rate: SAMPLE_RATE, n_fft: FFT, hop_length: HOP })) {
    const found = spectrum[key as keyof typeof spectrum] ?? wanted;
    if (found !== wanted) return [`${PREPROCESSOR} says ${key} ${found}, wanted ${wanted} as in every Whisper, so its input would differ`];
  }
  const flat = Array.isArray(given) ? (given as unknown[]).flat().map(Number) : [];
  if (flat.length === 0 || areOurs(flat, bins)) return [];
  return [
    `the mel filters in ${PREPROCESSOR} are not those of Whisper (${bins} triangles from low to high, of ${BINS} frequencies), so its input would differ`,
  ];
}

/** Whether these are Whisper's mel filters, by bin or by frequency. */
function areOurs(flat: readonly number[], bins: number): boolean {
  const ours = melFilters(bins);
  if (flat.length !== ours.length) return false;
  const most = ours.reduce((a, b) => Math.max(a, b));
  const same = (at: (bin: number, frequency: number) => number) =>
    ours.every((value, i) => Math.abs(value - at(Math.floor(i / BINS), i % BINS)) < FILTER_ERROR * most);
  return same((bin, k) => flat[bin * BINS + k]!) || same((bin, k) => flat[k * bins + bin]!);
}
