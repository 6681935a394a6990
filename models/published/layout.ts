import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { FrameDescriptor } from '../descriptor.ts';

/**
 * The folders in which CTC and transducer models are published as ONNX, the layout that onnx-asr documents: model.onnx (or v3_ctc.onnx) or
 * encoder-model.onnx with decoder_joint-model.onnx, vocab.txt (or v3_vocab.txt), and usually config.json. `.int8.onnx` is the 8-bit variant.
 */
export interface Layout {
  architecture: FrameDescriptor['architecture'];
  variant: 'int8' | 'float32';
  /** ONNX files: the CTC model, or encoder and decoder_joint. */
  networks: string[];
  vocabulary: string;
  features: FrameDescriptor['features'];
  subsampling: number;
  tokensPerFrame: number;
  /** TDT rather than RNN-T; null: not specified by the folder. */
  durations: boolean | null;
}

const CTC = /^(?:model|v[23](?:_e2e)?_ctc|multilingual[\w]*_ctc)(\.int8)?\.onnx$/;
const ENCODER = /^encoder-model(\.int8)?\.onnx$/;
const DECODER = /^decoder_joint-model(\.int8)?\.onnx$/;
const VOCABULARY = /^(?:vocab|v[23]_vocab|v3_e2e_ctc_vocab|multilingual_vocab)\.txt$/;
const SMALL = 1024; // bytes: smaller ONNX files are Git LFS pointers

/** Whether a folder has ONNX files and no checkpoint from which they could be built. */
export function isPublished(folder: string): boolean {
  const names = existsSync(folder) && statSync(folder).isDirectory() ? readdirSync(folder) : [];
  return names.some((name) => name.endsWith('.onnx')) && !names.some((name) => name.endsWith('.safetensors'));
}

/** Reads the layout of a folder. Throws if a file is missing or the format is unknown. @param variant if both are present; default int8 */
export function layoutOf(folder: string, variant?: string): Layout {
  const names = readdirSync(folder);
  const config = configOf(folder, names);
  const transducer = names.some((name) => ENCODER.test(name) || DECODER.test(name));
  const wanted = transducer ? [ENCODER, DECODER] : [CTC];
  const eight = chosen(names, wanted, variant);
  const networks = wanted.map((pattern) => {
    const found = names.find((name) => pattern.exec(name) && Boolean(pattern.exec(name)![1]) === eight);
    if (!found) throw refused(folder, `found ${onnxOf(names)}, wanted ${wantedFiles(transducer, eight)}`);
    if (statSync(join(folder, found)).size < SMALL)
      throw refused(folder, `${found} has ${statSync(join(folder, found)).size} bytes, as a Git LFS pointer has; download the file itself`);
    return found;
  });
  const vocabularies = names.filter((name) => VOCABULARY.test(name));
  if (vocabularies.length !== 1)
    throw refused(
      folder,
      `found ${vocabularies.join(' and ') || 'no vocab.txt'}, wanted one vocabulary with a line "token number" for each token`,
    );
  return {
    architecture: transducer ? 'transducer' : 'ctc',
    variant: eight ? 'int8' : 'float32',
    networks,
    vocabulary: vocabularies[0]!,
    ...config,
  };
}

/** Whether to use the 8-bit files. */
function chosen(names: readonly string[], patterns: readonly RegExp[], variant?: string): boolean {
  const has = (eight: boolean) =>
    patterns.every((pattern) => names.some((name) => Boolean(pattern.exec(name)?.[1]) === eight && pattern.test(name)));
  if (variant?.startsWith('int8')) return true;
  return variant === 'float32' ? false : has(true);
}

interface Config {
  model_type?: unknown;
  version?: unknown;
  features_size?: unknown;
  subsampling_factor?: unknown;
  max_tokens_per_step?: unknown;
}

type Facts = Pick<Layout, 'features' | 'subsampling' | 'tokensPerFrame' | 'durations'>;

/** Parameters from config.json, or the defaults of the families. */
function configOf(folder: string, names: readonly string[]): Facts {
  const config = names.includes('config.json') ? jsonIn(folder) : {};
  const type = typeof config.model_type === 'string' ? config.model_type : '';
  const known = /^(nemo-(conformer|fastconformer|parakeet)|gigaam)/.test(type);
  if (type && !known)
    throw refused(folder, `config.json says "${type.slice(0, 60)}", wanted nemo-conformer-ctc, -rnnt or -tdt, or a CTC model of gigaam`);
  if (/^gigaam.*rnnt/.test(type) || names.some((name) => /^v\d_(e2e_)?rnnt_encoder/.test(name)))
    throw refused(folder, 'it is a transducer of GigaAM, whose predictor and joint are separate files; import its CTC model');
  if (/-aed$|canary/.test(type)) throw refused(folder, 'it is an attention decoder; only CTC, RNN-T and TDT are supported');
  const gigaam = type.startsWith('gigaam') || names.some((name) => /^(v[23]_|multilingual)/.test(name));
  const version = config.version === 'v2' || names.some((name) => /^v2_/.test(name)) ? 'v2' : 'v3';
  const bins = whole(config.features_size, gigaam ? 64 : 80);
  if (gigaam ? bins !== 64 : bins !== 80 && bins !== 128)
    throw refused(folder, `config.json says ${bins} mel bins, wanted ${gigaam ? '64' : '80 or 128'}`);
  return {
    features: gigaam ? `gigaam-${version}` : `nemo${bins as 80 | 128}`,
    subsampling: whole(config.subsampling_factor, gigaam ? 4 : 8),
    tokensPerFrame: whole(config.max_tokens_per_step, 10),
    durations: type ? /tdt/.test(type) : null,
  };
}

function jsonIn(folder: string): Config {
  try {
    const config: unknown = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
    if (config && typeof config === 'object') return config;
  } catch {
    // reported below
  }
  throw refused(folder, 'config.json is not a JSON object; download it again');
}

function whole(value: unknown, otherwise: number): number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= 1024 ? (value as number) : otherwise;
}

function wantedFiles(transducer: boolean, eight: boolean): string {
  const end = eight ? '.int8.onnx' : '.onnx';
  const both = `encoder-model${end} with decoder_joint-model${end}`;
  return `${transducer ? both : `model${end}, v3_ctc${end} or ${both}`}, and vocab.txt, as in the folders for onnx-asr`;
}

function onnxOf(names: readonly string[]): string {
  return names.filter((name) => name.endsWith('.onnx')).join(', ');
}

/** An error for a folder that cannot be imported. */
export function refused(folder: string, why: string): Error {
  return new Error(`Cannot import the model in ${folder}: ${why}`);
}
