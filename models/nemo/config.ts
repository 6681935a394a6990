import { parseDocument } from 'yaml';
import { z } from 'zod';
import type { Conformer } from '../build/conformer/shape.ts';
import { SAMPLE_RATE } from '../sample-rate.ts';

/*
 * The model_config.yaml of a .nemo file. All scalars are read as text, because tokens such as `no` or `1e3` are text to NeMo too.
 */

const absent = (text: string) => ['', '~', 'null', 'None'].includes(text);
const text = z.string().transform((value) => (absent(value) ? undefined : value));
const number = text
  .refine((value) => value === undefined || Number.isFinite(Number(value)), 'not a number')
  .transform((value) => (value === undefined ? undefined : Number(value)));
const flag = text.pipe(
  z
    .enum(['true', 'false', 'True', 'False'])
    .transform((value) => /^t/i.test(value))
    .optional(),
);
const tokens = z.array(z.string().max(256)).max(2 ** 20); // the largest vocabulary published by NVIDIA has 16,384
const texts = <T extends z.ZodType>(kind: T) => kind.optional();
const list = (kind: z.ZodType<number | undefined>) => z.union([z.array(kind), text.pipe(z.undefined())]).optional();

const section = <T extends z.ZodRawShape>(shape: T) => z.union([z.object(shape), text.pipe(z.undefined())]).optional();

const schema = z.object({
  target: texts(text),
  sample_rate: texts(number),
  labels: z.union([tokens, text.pipe(z.undefined())]).optional(),
  tokenizer: section({ type: texts(text) }),
  preprocessor: z.object({
    _target_: texts(text),
    sample_rate: texts(number),
    normalize: texts(text),
    window_size: texts(number),
    window_stride: texts(number),
    n_window_size: texts(number),
    n_window_stride: texts(number),
    window: texts(text),
    features: texts(number),
    n_fft: texts(number),
    preemph: texts(number),
    lowfreq: texts(number),
    highfreq: texts(number),
    log: texts(flag),
    log_zero_guard_type: texts(text),
    log_zero_guard_value: texts(number),
    frame_splicing: texts(number),
    exact_pad: texts(flag),
    mag_power: texts(number),
    mel_norm: texts(text),
  }),
  encoder: z.object({
    _target_: texts(text),
    feat_in: texts(number),
    feat_out: texts(number),
    n_layers: number,
    d_model: number,
    subsampling: texts(text),
    subsampling_factor: texts(number),
    subsampling_conv_channels: texts(number),
    causal_downsampling: texts(flag),
    reduction: texts(text),
    ff_expansion_factor: texts(number),
    self_attention_model: texts(text),
    n_heads: texts(number),
    att_context_size: z.union([z.array(z.union([number, z.array(number)])), text.pipe(z.undefined())]).optional(),
    xscaling: texts(flag),
    conv_kernel_size: texts(number),
    conv_norm_type: texts(text),
    conv_context_size: z.union([z.array(number), text]).optional(),
    use_bias: texts(flag),
    global_tokens: texts(number),
  }),
  decoder: z.object({
    _target_: texts(text),
    vocabulary: tokens.optional(),
    normalization_mode: texts(text),
    blank_as_pad: texts(flag),
    prednet: section({ pred_hidden: number, pred_rnn_layers: number, rnn_hidden_size: texts(number) }),
  }),
  joint: section({
    _target_: texts(text),
    vocabulary: z.union([tokens, text.pipe(z.undefined())]).optional(),
    num_extra_outputs: texts(number),
    jointnet: z.object({ joint_hidden: number, activation: texts(text) }),
  }),
  aux_ctc: section({ decoder: z.object({ _target_: texts(text), vocabulary: tokens.optional() }) }),
  model_defaults: section({ tdt_durations: list(number) }),
  decoding: section({ durations: list(number), greedy: section({ max_symbols: texts(number) }) }),
  loss: section({ tdt_kwargs: section({ durations: list(number) }) }),
});
export type NemoConfig = z.infer<typeof schema>;

const LONGEST = 2 ** 24; // characters

/** Reads a model_config.yaml. Throws if it has another form. */
export function readConfig(yaml: string): NemoConfig {
  if (yaml.length > LONGEST) throw new Error(`found a model_config.yaml of ${yaml.length} characters, wanted at most ${LONGEST}`);
  const document = parseDocument(yaml, { schema: 'failsafe', logLevel: 'silent' });
  const [damage] = document.errors;
  if (damage) throw new Error(`found a model_config.yaml that is not YAML (${damage.message.split('\n')[0]}); download the file again`);
  const parsed = schema.safeParse(document.toJS({ maxAliasCount: 100 }));
  if (parsed.success) return parsed.data;
  const { path = [], message = '' } = parsed.error.issues[0] ?? {};
  throw new Error(
    `found ${path.join('.') || 'no section'} in model_config.yaml with an unknown form (${message}), wanted that of NeMo's ASR models`,
  );
}

const CLASSES = /\.(EncDecCTCModel(?:BPE)?|EncDecRNNT(?:BPE)?Model|EncDecHybridRNNTCTC(?:BPE)?Model)$/;
const OTHERWISE = 'only FastConformer CTC, RNN-T, TDT and hybrid models are built here; export others with NeMo and import the ONNX files';

/** Kind of the model: `hybrid` has both a transducer and a CTC head. */
export function kindOf({ target = '' }: NemoConfig): 'ctc' | 'transducer' | 'hybrid' {
  const name = CLASSES.exec(target)?.[1];
  if (!name)
    throw new Error(
      `found the class ${target.slice(0, 120) || 'nothing'}, wanted EncDecCTCModel, EncDecRNNTModel or a hybrid of both; ${OTHERWISE}`,
    );
  return name.includes('Hybrid') ? 'hybrid' : name.includes('CTC') ? 'ctc' : 'transducer';
}

/** Throws if a field's value, or its default in NeMo, is not one of those that are supported. */
export function requireValues(fields: Record<string, [found: unknown, ...wanted: unknown[]]>): void {
  for (const [name, [found, ...wanted]] of Object.entries(fields)) {
    if (wanted.includes(found)) continue;
    const shown = (value: unknown) => String(value ?? 'nothing').slice(0, 80);
    throw new Error(`found ${name} ${shown(found)} in model_config.yaml, wanted ${wanted.map(shown).join(' or ')}; ${OTHERWISE}`);
  }
}

const [WINDOW, HOP] = [0.025, 0.01]; // seconds
const TRANSFORM = 512; // samples
const GUARD = 2 ** -24; // added before the logarithm

/** Throws if the features are not those of engine/asr/features. */
export function requireFeatures({ sample_rate, preprocessor: p }: NemoConfig): void {
  requireValues({
    'preprocessor._target_': [p._target_?.split('.').at(-1), 'AudioToMelSpectrogramPreprocessor'],
    sample_rate: [sample_rate ?? SAMPLE_RATE, SAMPLE_RATE],
    'preprocessor.sample_rate': [p.sample_rate ?? SAMPLE_RATE, SAMPLE_RATE],
    'preprocessor.normalize': [p.normalize ?? 'per_feature', 'per_feature'],
    'preprocessor.window_size': [p.n_window_size === undefined ? p.window_size : p.n_window_size / SAMPLE_RATE, WINDOW],
    'preprocessor.window_stride': [p.n_window_stride === undefined ? (p.window_stride ?? HOP) : p.n_window_stride / SAMPLE_RATE, HOP],
    'preprocessor.window': [p.window ?? 'hann', 'hann'],
    'preprocessor.features': [p.features, 80, 128],
    'preprocessor.n_fft': [p.n_fft ?? TRANSFORM, TRANSFORM],
    'preprocessor.preemph': [p.preemph ?? 0.97, 0.97],
    'preprocessor.lowfreq': [p.lowfreq ?? 0, 0],
    'preprocessor.highfreq': [p.highfreq ?? SAMPLE_RATE / 2, SAMPLE_RATE / 2],
    'preprocessor.log': [p.log ?? true, true],
    'preprocessor.log_zero_guard_type': [p.log_zero_guard_type ?? 'add', 'add'],
    'preprocessor.log_zero_guard_value': [p.log_zero_guard_value ?? GUARD, GUARD],
    'preprocessor.frame_splicing': [p.frame_splicing ?? 1, 1],
    'preprocessor.exact_pad': [p.exact_pad ?? false, false],
    'preprocessor.mag_power': [p.mag_power ?? 2, 2],
    'preprocessor.mel_norm': [p.mel_norm ?? 'slaney', 'slaney'],
  });
}

const MOST_LAYERS = 256;
const MOST_WIDTH = 2 ** 14;

/** The encoder's dimensions. Throws if it is not a FastConformer that hears the whole window. */
export function encoderOf({ encoder: e, preprocessor: { features } }: NemoConfig): Conformer {
  const kernel = e.conv_kernel_size ?? 31;
  const context = (e.att_context_size ?? []).flat();
  const around = Array.isArray(e.conv_context_size) ? e.conv_context_size : [];
  requireValues({
    'encoder._target_': [e._target_?.split('.').at(-1), 'ConformerEncoder'],
    'encoder.feat_in': [e.feat_in ?? features, features],
    'encoder.feat_out': [e.feat_out === e.d_model ? -1 : (e.feat_out ?? -1), -1],
    'encoder.subsampling': [e.subsampling ?? 'striding', 'dw_striding'],
    'encoder.subsampling_factor': [e.subsampling_factor ?? 4, 8, 4],
    'encoder.causal_downsampling': [e.causal_downsampling ?? false, false],
    'encoder.reduction': [e.reduction, undefined],
    'encoder.self_attention_model': [e.self_attention_model ?? 'rel_pos', 'rel_pos'],
    'encoder.att_context_size': [context.find((size) => size !== -1) ?? -1, -1],
    'encoder.conv_norm_type': [e.conv_norm_type ?? 'batch_norm', 'batch_norm', 'layer_norm'],
    'encoder.conv_context_size': [
      typeof e.conv_context_size === 'string' ? e.conv_context_size : (around.find((size) => size !== (kernel - 1) / 2) ?? 'whole'),
      'whole',
    ],
    'encoder.global_tokens': [e.global_tokens ?? 0, 0],
  });
  const width = whole('encoder.d_model', e.d_model, MOST_WIDTH);
  const channels = e.subsampling_conv_channels ?? -1;
  const model: Conformer = {
    melBins: features as 80 | 128,
    layers: whole('encoder.n_layers', e.n_layers, MOST_LAYERS),
    width,
    heads: whole('encoder.n_heads', e.n_heads ?? 4, width),
    inner: width * whole('encoder.ff_expansion_factor', e.ff_expansion_factor ?? 4, 16),
    kernel: whole('encoder.conv_kernel_size', kernel, 255),
    subsampling: (e.subsampling_factor ?? 4) as 4 | 8,
    channels: channels === -1 ? width : whole('encoder.subsampling_conv_channels', channels, MOST_WIDTH),
    scaled: e.xscaling ?? true,
    bias: e.use_bias ?? true,
    norm: (e.conv_norm_type ?? 'batch_norm') as Conformer['norm'],
  };
  requireValues({
    'encoder.n_heads': [width % model.heads ? model.heads : 'a divisor of d_model', 'a divisor of d_model'],
    'encoder.d_model': [width % 2 ? width : 'an even number', 'an even number'],
    'encoder.conv_kernel_size': [model.kernel % 2 ? 'odd' : model.kernel, 'odd'],
  });
  return model;
}

/** A whole number from 1 to `most`. */
export function whole(name: string, value: number | undefined, most: number): number {
  if (value !== undefined && Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new Error(`found ${name} ${value ?? 'nothing'} in model_config.yaml, wanted a whole number from 1 to ${most}`);
}
