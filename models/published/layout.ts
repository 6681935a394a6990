import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { FrameDescriptor } from '../descriptor.ts';

/**
 * The folders in which CTC and transducer models are published as ONNX, the layout that onnx-asr documents: model.onnx, or encoder-model.onnx with
 * decoder_joint-model.onnx, and vocab.txt, of NeMo; v3_ctc.onnx, or v3_rnnt_encoder.onnx with v3_rnnt_decoder.onnx and v3_rnnt_joint.onnx, and
 * v3_vocab.txt, of GigaAM; and usually config.json. `.int8.onnx` is the 8-bit variant.
 */
export interface Layout {
  architecture: FrameDescriptor['architecture'];
  /** Precision of the files to use. */
  precision: 'int8' | 'float32';
  /** ONNX files: the CTC model; encoder and decoder_joint; or encoder, predictor and joint. */
  networks: string[];
  vocabulary: string;
  features: FrameDescriptor['features'];
  subsampling: number;
  tokensPerFrame: number;
  /** TDT rather than RNN-T; null: not specified by the folder. */
  durations: boolean | null;
  /** Tokens in config.json, in order, without the blank, which follows them; null: they are in a file. */
  tokens: string[] | null;
  /** Frames by which its tokens come late. */
  delay: number;
  /** ISO codes of its languages if nothing else says them. */
  languages: string[];
}

/** The files of a model, without `.onnx`, and of its vocabulary, the most specific first. */
interface Files {
  networks: string[];
  vocabularies: string[];
}

const NEMO: Files[] = [
  { networks: ['encoder-model', 'decoder_joint-model'], vocabularies: ['vocab'] },
  { networks: ['model'], vocabularies: ['vocab'] },
];
const GIGAAM = /^((?:v[23]|multilingual\w*?)(?:_e2e)?)_(ctc|rnnt)(?:_(?:encoder|decoder|joint))?(?:\.int8)?\.onnx$/;
const EIGHT = '.int8.onnx';
const CONFIG = 'config.json';
const LONGEST = 256; // characters of a token
const SMALL = 1024; // bytes: smaller ONNX files are Git LFS pointers

/** Whether a folder has ONNX files and no checkpoint from which they could be built. */
export function isPublished(folder: string): boolean {
  const names = existsSync(folder) && statSync(folder).isDirectory() ? readdirSync(folder) : [];
  return names.some((name) => name.endsWith('.onnx')) && !names.some((name) => name.endsWith('.safetensors'));
}

/** Reads the layout of a folder, with the float32 files if it has them. Throws if a file is missing or the format is unknown. */
export function layoutOf(folder: string): Layout {
  const names = readdirSync(folder);
  const config = configOf(folder, names);
  const files = filesOf(folder, names);
  const downloaded = names.filter((name) => !isPointer(folder, name));
  const hasAll = (end: string) => files.networks.every((name) => downloaded.includes(`${name}${end}`));
  const eight = !hasAll('.onnx') && (hasAll(EIGHT) || files.networks.some((name) => names.includes(`${name}${EIGHT}`)));
  const networks = files.networks.map((name) => `${name}${eight ? EIGHT : '.onnx'}`);
  if (networks.some((name) => !names.includes(name))) throw refused(folder, `found ${onnxOf(names)}, wanted ${wantedFiles(networks)}`);
  const pointer = networks.find((name) => isPointer(folder, name));
  if (pointer)
    throw refused(
      folder,
      `${pointer} has ${statSync(join(folder, pointer)).size} bytes, as a Git LFS pointer has; download the file itself`,
    );
  const vocabulary = config.tokens ? CONFIG : files.vocabularies.map((name) => `${name}.txt`).find((name) => names.includes(name));
  if (!vocabulary)
    throw refused(folder, `found no ${files.vocabularies.at(-1)}.txt, wanted a vocabulary with a line "token number" for each token`);
  return {
    architecture: networks.length > 1 ? 'transducer' : 'ctc',
    precision: eight ? 'int8' : 'float32',
    networks,
    vocabulary,
    ...config,
  };
}

/** The names of a model's files. Throws if there are several models. */
function filesOf(folder: string, names: readonly string[]): Files {
  const found = new Map(gigaam(names));
  if (found.size > 1) throw refused(folder, `it holds several models, ${[...found.keys()].join(', ')}; leave the files of one in a folder`);
  const has = (network: string) => names.includes(`${network}.onnx`) || names.includes(`${network}${EIGHT}`);
  return [...found.values()][0] ?? NEMO.find(({ networks }) => networks.some(has)) ?? NEMO[1]!;
}

/** Models of GigaAM by name, such as v3_e2e_rnnt. */
function gigaam(names: readonly string[]): [name: string, files: Files][] {
  return names.flatMap((file) => {
    const [, version, family] = GIGAAM.exec(file) ?? [];
    if (!version) return [];
    const name = `${version}_${family}`;
    const networks = family === 'ctc' ? [name] : ['encoder', 'decoder', 'joint'].map((part) => `${name}_${part}`);
    return [[name, { networks, vocabularies: [`${name}_vocab`, `${version}_vocab`, `${version.replace(/_.*/, '')}_vocab`, 'vocab'] }]];
  });
}

function isPointer(folder: string, name: string): boolean {
  return name.endsWith('.onnx') && statSync(join(folder, name)).size < SMALL;
}

interface Config {
  model_type?: unknown;
  version?: unknown;
  features_size?: unknown;
  subsampling_factor?: unknown;
  max_tokens_per_step?: unknown;
  decoder_params?: { vocabulary?: unknown };
  encoder_params?: { reduction_kernel_size?: unknown };
}

// T-one (voicekit-team/T-one): the mean time by which its tokens come late, and the length of its frames, in ms
const [T_ONE_DELAY, T_ONE_FRAME] = [330, 30];

type Facts = Pick<Layout, 'features' | 'subsampling' | 'tokensPerFrame' | 'durations' | 'tokens' | 'delay' | 'languages'>;

/** Parameters from config.json, or the defaults of the families. */
function configOf(folder: string, names: readonly string[]): Facts {
  const config = names.includes(CONFIG) ? jsonIn(folder) : {};
  const type = typeof config.model_type === 'string' ? config.model_type : '';
  if (Array.isArray(config.decoder_params?.vocabulary)) return tone(folder, config, config.decoder_params.vocabulary);
  const known = /^(nemo-(conformer|fastconformer|parakeet)|gigaam)/.test(type);
  if (type === 'whisper')
    throw refused(folder, 'it holds an ONNX export of Whisper; import the checkpoint from which it was made, with model.safetensors');
  if (type && !known)
    throw refused(folder, `config.json says "${type.slice(0, 60)}", wanted nemo-conformer-ctc, -rnnt or -tdt, a model of gigaam, or T-one`);
  if (/-aed$|canary/.test(type)) throw refused(folder, 'it is an attention decoder; only CTC, RNN-T and TDT are supported');
  const gigaam = type.startsWith('gigaam') || names.some((name) => /^(v[23]_|multilingual)/.test(name));
  const version = config.version === 'v2' || names.some((name) => /^v2_/.test(name)) ? 'v2' : 'v3';
  const bins = whole(config.features_size, gigaam ? 64 : 80);
  if (gigaam ? bins !== 64 : bins !== 80 && bins !== 128)
    throw refused(folder, `config.json says ${bins} mel bins, wanted ${gigaam ? '64' : '80 or 128'}`);
  return {
    features: gigaam ? `gigaam-${version}` : `nemo${bins as 80 | 128}`,
    subsampling: whole(config.subsampling_factor, gigaam ? 4 : 8),
    tokensPerFrame: whole(config.max_tokens_per_step, gigaam ? 3 : 10),
    durations: type || gigaam ? /tdt/.test(type) : null,
    ...{ tokens: null, delay: 0, languages: gigaam ? ['ru'] : [] },
  };
}

/** T-one, whose config.json holds the vocabulary, and which takes samples of telephone speech. */
function tone(folder: string, { encoder_params: encoder }: Config, vocabulary: unknown[]): Facts {
  const wrong = vocabulary.findIndex((token) => typeof token !== 'string' || !token.length || token.length > LONGEST);
  if (wrong >= 0) throw refused(folder, `token ${wrong} of the vocabulary in config.json is not a short text; download it again`);
  return {
    ...{ features: 'samples8k', subsampling: whole(encoder?.reduction_kernel_size, T_ONE_FRAME / 10), tokensPerFrame: 1, durations: false },
    tokens: (vocabulary as string[]).map((token) => (token === ' ' ? '\u2581' : token)),
    ...{ delay: Math.round(T_ONE_DELAY / T_ONE_FRAME), languages: ['ru'] },
  };
}

function jsonIn(folder: string): Config {
  try {
    const config: unknown = JSON.parse(readFileSync(join(folder, CONFIG), 'utf8'));
    if (config && typeof config === 'object') return config;
  } catch {
    // reported below
  }
  throw refused(folder, 'config.json is not a JSON object; download it again');
}

function whole(value: unknown, otherwise: number): number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= 1024 ? (value as number) : otherwise;
}

function wantedFiles(networks: readonly string[]): string {
  const others = networks.length === 1 ? ', v3_ctc.onnx or encoder-model.onnx with decoder_joint-model.onnx' : '';
  return `${networks.join(' with ')}${others}, and vocab.txt, as in the folders for onnx-asr`;
}

function onnxOf(names: readonly string[]): string {
  return names.filter((name) => name.endsWith('.onnx')).join(', ');
}

/** An error for a folder that cannot be imported. */
export function refused(folder: string, why: string): Error {
  return new Error(`Cannot import the model in ${folder}: ${why}`);
}
