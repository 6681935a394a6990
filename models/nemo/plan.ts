import type { Head, Plan } from '../build/conformer/build.ts';
import { type Conformer, encoderShapes, headShapes, type Predictor, predictorShapes, type Shapes } from '../build/conformer/shape.ts';
import type { NemoCheckpoint } from './checkpoint.ts';
import { encoderOf, kindOf, type NemoConfig, requireFeatures, requireValues, whole } from './config.ts';
import type { Decoder } from './decoders.ts';

/** A model to build, with the meaning of its outputs. */
export interface NemoPlan extends Plan {
  architecture: Decoder;
  /** Ordered by number, as in the vocabulary of a published model; the blank is the last. */
  tokens: string[];
  /** Number of durations 0, 1, 2 …; 0: not TDT. */
  durations: number;
  tokensPerFrame: number;
}

const BLANK = '<blk>';
const WORD = '\u2581'; // begins a word
const MOST_DURATIONS = 16; // TDT models have 5
const TOKENS_PER_FRAME = 10;
const REACH_SECONDS = 30; // windows have up to 25 s

/** Plans the graphs of a .nemo file. Throws if the model is not supported, or if the weights are not those of its configuration. */
export function planOf(config: NemoConfig, checkpoint: NemoCheckpoint, decoder?: Decoder): NemoPlan {
  const kind = kindOf(config);
  const architecture = decoder ?? (kind === 'ctc' ? 'ctc' : 'transducer');
  if (kind !== 'hybrid' && kind !== architecture)
    throw new Error(`found a ${kind} model without a ${architecture} decoder, wanted a hybrid for --decoder ${architecture}`);
  requireFeatures(config);
  const encoder = encoderOf(config);
  const tokens = tokensOf(config, vocabularyOf(config, kind, architecture));
  const durations = architecture === 'transducer' ? durationsOf(config) : 0;
  const outputs = tokens.length + durations;
  const head: Head =
    architecture === 'ctc'
      ? { ctc: `${kind === 'hybrid' ? 'ctc_decoder' : 'decoder'}.decoder_layers.0` }
      : { transducer: predictorOf(config, checkpoint) };
  if (architecture === 'ctc') {
    const target = (kind === 'hybrid' ? config.aux_ctc?.decoder : config.decoder)?._target_;
    requireValues({ 'decoder._target_': [target?.split('.').at(-1), 'ConvASRDecoder'] });
  }
  requireShapes(checkpoint, [encoderShapes(encoder), headShapesOf(head, encoder, tokens.length, outputs)]);
  return {
    ...{ architecture, encoder, head, tokens, durations, outputs },
    tokensPerFrame: config.decoding?.greedy?.max_symbols ?? TOKENS_PER_FRAME,
    reach: Math.ceil((100 * REACH_SECONDS) / encoder.subsampling),
  };
}

function headShapesOf(head: Head, { width }: Conformer, tokens: number, outputs: number): Shapes {
  return 'ctc' in head ? headShapes(head.ctc, width, outputs) : predictorShapes(head.transducer, width, tokens, outputs);
}

/** Throws if a tensor is missing or has another shape, or if there are adapters, which change what the others compute. */
function requireShapes(checkpoint: NemoCheckpoint, groups: readonly Shapes[]): void {
  for (const [name, wanted] of groups.flatMap((shapes) => [...shapes])) {
    const found = checkpoint.shape(name);
    if (`${found}` !== `${wanted}`)
      throw new Error(
        `found the tensor ${name} with the shape [${found}], wanted [${wanted}] as in model_config.yaml; they belong to different models`,
      );
  }
  const adapter = checkpoint.names().find((name) => /\badapter/.test(name));
  if (adapter) throw new Error(`found the adapter ${adapter}, wanted a model without; merge it in NeMo, or export the model`);
}

function vocabularyOf(config: NemoConfig, kind: ReturnType<typeof kindOf>, architecture: Decoder): string[] {
  const found =
    architecture === 'transducer'
      ? (config.joint?.vocabulary ?? config.labels)
      : kind === 'hybrid'
        ? (config.aux_ctc?.decoder.vocabulary ?? config.labels)
        : (config.decoder.vocabulary ?? config.labels);
  if (!found?.length) throw new Error('found no vocabulary in model_config.yaml, wanted decoder.vocabulary, joint.vocabulary or labels');
  return found;
}

/** Tokens as the engine reads them: word pieces, which mark the middle of a word with ##, mark its beginning instead. */
function tokensOf({ tokenizer }: NemoConfig, vocabulary: readonly string[]): string[] {
  const pieces = tokenizer?.type === 'wpe' && vocabulary.some((token) => token.startsWith('##'));
  const marked = (token: string) => (token.startsWith('##') ? token.slice(2) : /^[<[]/.test(token) ? token : `${WORD}${token}`);
  const tokens = vocabulary.map((token) => (pieces ? marked(token) : token === '' || token === ' ' ? WORD : token));
  if (!tokens.some((token) => token.startsWith(WORD)))
    throw new Error(`found no token that begins a word (with ${WORD} or a space), so words could not be separated`);
  return [...tokens, BLANK];
}

/** Number of durations. */
function durationsOf({ model_defaults, decoding, loss, joint }: NemoConfig): number {
  const durations = model_defaults?.tdt_durations ?? decoding?.durations ?? loss?.tdt_kwargs?.durations ?? [];
  const extra = joint?.num_extra_outputs ?? 0;
  requireValues({ 'joint.num_extra_outputs': [extra, extra === 0 ? 0 : durations.length] });
  if (extra === 0) return 0;
  if (extra < 2 || extra > MOST_DURATIONS || durations.some((duration, i) => duration !== i))
    throw new Error(`found the durations ${durations}, wanted 0, 1, 2 … in order, at most ${MOST_DURATIONS}`);
  return extra;
}

function predictorOf({ decoder, joint }: NemoConfig, checkpoint: NemoCheckpoint): Predictor {
  const net = decoder.prednet;
  if (!net || !joint) throw new Error('found no predictor or joint in model_config.yaml, wanted decoder.prednet and joint.jointnet');
  const activation = joint.jointnet.activation ?? 'relu';
  requireValues({
    'decoder._target_': [decoder._target_?.split('.').at(-1), 'RNNTDecoder'],
    'decoder.normalization_mode': [decoder.normalization_mode, undefined],
    'decoder.blank_as_pad': [decoder.blank_as_pad ?? true, true],
    'decoder.prednet.rnn_hidden_size': [net.rnn_hidden_size ?? -1, -1],
    'joint._target_': [joint._target_?.split('.').at(-1), 'RNNTJoint', 'SampledRNNTJoint'],
    'joint.jointnet.activation': [activation, 'relu', 'tanh', 'sigmoid'],
  });
  const last = checkpoint.has('joint.joint_net.2.weight') ? 2 : 1;
  return {
    layers: whole('decoder.prednet.pred_rnn_layers', net.pred_rnn_layers, 8),
    width: whole('decoder.prednet.pred_hidden', net.pred_hidden, 2 ** 14),
    joint: whole('joint.jointnet.joint_hidden', joint.jointnet.joint_hidden, 2 ** 14),
    activation: activation as Predictor['activation'],
    last: `joint.joint_net.${last}`,
  };
}
