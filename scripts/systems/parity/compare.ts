/*
 * Imports models of reference.py and compares features, encoder output and greedy tokens with the reference of each clip. Models of NeMo are
 * compared twice: their exported ONNX files, and their .nemo files. Prints a table; exits with 1 if a limit is exceeded.
 * Usage: compare.ts FOLDER NAME…
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countErrors } from '../../../bench/errors/align.ts';
import { addErrors, NO_ERRORS } from '../../../bench/errors/normalise.ts';
import { openNetwork } from '../../../engine/asr/ctc/recogniser.ts';
import { examine } from '../../../engine/asr/examine.ts';
import { type Features, openFrontEnd } from '../../../engine/asr/features/log-mel.ts';
import { portOf } from '../../../engine/asr/frames/ports.ts';
import { likeliestOf } from '../../../engine/asr/frames/probability.ts';
import type { FrameNetworks } from '../../../engine/asr/frames/recogniser.ts';
import { decoderFiles, openDecoder, openNetworks } from '../../../engine/asr/transducer/recogniser.ts';
import { float32, int64, openSession } from '../../../engine/runtime/session.ts';
import type { DescriptorOf, FrameDescriptor } from '../../../models/descriptor.ts';
import { importNemo } from '../../../models/nemo/importing.ts';
import { importPublished } from '../../../models/published/importing.ts';

const FEATURES = 1e-3; // greatest difference of a value
const ENCODER = 1e-2;
const EIGHT = 0.95; // share of tokens that 8 bits may not change
const TIE = 1e-3; // of log-probabilities: two runs of PyTorch differ by as much

const NEMO = 'model.nemo';
type Kind = 'onnx' | 'nemo';

interface Row {
  clips: number;
  features: number;
  encoder: number;
  tokens: number;
  same: number;
  /** Share of the tokens that 8 bits leave as they are; null: nothing is converted. */
  eight: number | null;
  /** Greatest lead, in the reference, of a token over one that was found instead: a tie within the precision of float32 if tiny. */
  lead: number;
}

const [folder, ...names] = process.argv.slice(2);
const clips = readdirSync(join(folder!, 'clips')).map((file) => file.replace(/\.f32$/, ''));
let failed = false;
process.stdout.write(
  '| model | clips | features | encoder | tokens | clips with the same tokens | lead of the others | 8 bits: same tokens |\n|---|---|---|---|---|---|---|---|\n',
);
for (const name of names) {
  const kinds: Kind[] = existsSync(join(folder!, name, NEMO)) ? ['onnx', 'nemo'] : ['onnx'];
  for (const kind of kinds) {
    const home = mkdtempSync(join(tmpdir(), 'longhand-parity-'));
    try {
      const row = await compared(name, kind, home);
      failed ||= row.features > FEATURES || row.encoder > ENCODER || row.lead > TIE || (row.eight ?? 1) < EIGHT;
      const small = (value: number) => value.toExponential(1);
      process.stdout.write(
        `| ${name}${kind === 'nemo' ? ' .nemo' : ''} | ${row.clips} | ${small(row.features)} | ${small(row.encoder)} | ${row.tokens} | ${row.same} | ${row.lead ? small(row.lead) : ''} | ${row.eight === null ? '' : `${(100 * row.eight).toFixed(1)} %`} |\n`,
      );
    } finally {
      rmSync(home, { recursive: true });
    }
  }
}
process.exitCode = failed ? 1 : 0;

/** Imports the exported model or the .nemo file. @param variant default: 8 bits */
function imported(name: string, kind: Kind, home: string, variant?: 'float32') {
  const options = { home, name: `${name}-${variant ?? 'int8'}`, languages: ['en'], variant, examine };
  return kind === 'onnx' ? importPublished(join(folder!, name, 'model'), options) : importNemo(join(folder!, name, NEMO), options);
}

async function compared(name: string, kind: Kind, home: string): Promise<Row> {
  const model = await imported(name, kind, home, 'float32');
  const descriptor = model.descriptor as FrameDescriptor;
  const front = openFrontEnd(descriptor.features);
  const encode = await openEncoder(model.folder, descriptor);
  const row: Row = { clips: clips.length, features: 0, encoder: 0, tokens: 0, same: 0, eight: null, lead: 0 };
  const leads = new Map<string, number>();
  for (const clip of clips) {
    const features = front(floats(join(folder!, 'clips', `${clip}.f32`)));
    row.features = Math.max(row.features, farthest(features.values, reference(name, `${clip}.features.f32`)));
    const [encoded, wanted] = [await encode.run(features), reference(name, `${clip}.encoded.f32`)];
    row.encoder = Math.max(row.encoder, farthest(encoded, wanted));
    if (descriptor.architecture === 'ctc') leads.set(clip, leadOf(wanted, encoded, descriptor.tokens.count));
  }
  await encode.close();
  const networks = await networksOf(model.folder, descriptor);
  for (const clip of clips) {
    const wanted = referenceOf(name, clip);
    const found = await networks.tokens(front(floats(join(folder!, 'clips', `${clip}.f32`))), '', () => {});
    const [tokens, frames] = [found.map(({ token }) => token), found.map(({ first }) => first)];
    const same = `${tokens}` === `${wanted.tokens}` && (!wanted.frames.length || `${frames}` === `${wanted.frames}`);
    if (!same)
      process.stderr.write(
        `${name} ${clip}: found ${tokens.length} tokens, wanted ${wanted.tokens.length}; ${differing(tokens, wanted.tokens)}\n`,
      );
    row.tokens += wanted.tokens.length;
    row.same += same ? 1 : 0;
    if (!same) row.lead = Math.max(row.lead, leads.get(clip) ?? Number.POSITIVE_INFINITY);
  }
  await networks.close();
  return { ...row, eight: await inEightBits(name, kind, home) };
}

/**
 * Share of the reference's tokens that the 8-bit model chooses; null if the network is too small to be converted. A transducer chooses given the
 * reference's tokens before: with random weights, one that differs changes all that follow.
 */
async function inEightBits(name: string, kind: Kind, home: string): Promise<number | null> {
  const model = await imported(name, kind, home);
  const descriptor = model.descriptor as FrameDescriptor;
  if (!descriptor.converted) return null;
  const front = openFrontEnd(descriptor.features);
  const chosen =
    descriptor.architecture === 'ctc' ? await openChoices(model.folder, descriptor) : await openForced(model.folder, descriptor);
  let errors = NO_ERRORS;
  for (const clip of clips) {
    const wanted = referenceOf(name, clip);
    const found = await chosen.tokens(front(floats(join(folder!, 'clips', `${clip}.f32`))), wanted);
    errors = addErrors(errors, countErrors(wanted.tokens.map(String), found.map(String)));
  }
  await chosen.close();
  return 1 - (errors.substituted + errors.deleted + errors.inserted) / errors.reference;
}

interface Choices {
  tokens(features: Features, wanted: Reference): Promise<number[]>;
  close(): Promise<unknown>;
}

async function openChoices(home: string, descriptor: FrameDescriptor): Promise<Choices> {
  const networks = await networksOf(home, descriptor);
  const tokens = async (features: Features) => (await networks.tokens(features, '', () => {})).map(({ token }) => token);
  return { tokens, close: () => networks.close() };
}

/** The token that a transducer would choose at each place where the reference has one, after the same tokens. */
async function openForced(home: string, descriptor: DescriptorOf<'transducer'>): Promise<Choices> {
  const encoder = await openEncoder(home, descriptor);
  const { joint, close } = await openDecoder(home, decoderFiles(descriptor));
  const { blank, count } = descriptor.tokens;
  const tokens = async (features: Features, wanted: Reference) => {
    const encoded = await encoder.run(features);
    const frames = encoded.length / encoder.width();
    let { start: state } = joint;
    const found: number[] = [];
    for (const [i, frame] of wanted.frames.entries()) {
      const column = Float32Array.from({ length: encoded.length / frames }, (_, row) => encoded[row * frames + frame]!);
      const next = await joint.run(column, 1, wanted.tokens[i - 1] ?? blank, state);
      state = next.state;
      found.push(likeliestOf(next.logits, 0, count));
    }
    return found;
  };
  return { tokens, close: () => Promise.all([encoder.close(), close()]) };
}

/** The output that reference.py stores: [width x frames] of a transducer's encoder, or the logits of a CTC model. */
async function openEncoder(home: string, descriptor: FrameDescriptor) {
  const ctc = descriptor.architecture === 'ctc';
  const path = join(home, ctc ? descriptor.networks.model : descriptor.networks.encoder);
  const session = await openSession(path);
  const [signal, length, output] = [
    portOf(session, 'signal', path),
    portOf(session, 'length', path),
    portOf(session, ctc ? 'logits' : 'encoded', path),
  ];
  let width = 0;
  return {
    /** Width of the last output. */
    width: () => width,
    run: async ({ values, bins, frames }: Features) => {
      const feeds = { [signal]: float32(values, [1, bins, frames]), [length]: int64(BigInt64Array.of(BigInt(frames)), [1]) };
      const { data, dims } = (await session.run(feeds, { [output]: null }))[output]!;
      width = dims[ctc ? 2 : 1]!;
      return ctc ? turned(data as Float32Array, dims[1]!, dims[2]!) : (data as Float32Array);
    },
    close: () => session.close(),
  };
}

function networksOf(home: string, descriptor: FrameDescriptor): Promise<FrameNetworks> {
  const common = { folder: home, device: 'cpu' as const, rows: 1 };
  return descriptor.architecture === 'ctc' ? openNetwork({ ...common, descriptor }) : openNetworks({ ...common, descriptor });
}

type Reference = Record<'tokens' | 'frames', number[]>;

function referenceOf(name: string, clip: string): Reference {
  return JSON.parse(readFileSync(join(folder!, name, 'reference', `${clip}.json`), 'utf8')) as Reference;
}

function reference(name: string, file: string): Float32Array {
  return floats(join(folder!, name, 'reference', file));
}

function floats(path: string): Float32Array {
  return new Float32Array(new Uint8Array(readFileSync(path)).buffer);
}

function turned(values: Float32Array, rows: number, columns: number): Float32Array {
  return Float32Array.from(values, (_, i) => values[(i % rows) * columns + Math.floor(i / rows)]!);
}

function farthest(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
}

/** The greatest lead of a frame's likeliest token in `wanted` over the likeliest of `found`. Both [tokens x frames]. */
function leadOf(wanted: Float32Array, found: Float32Array, tokens: number): number {
  const frames = wanted.length / tokens;
  const likeliest = (values: Float32Array, frame: number) => {
    let best = 0;
    for (let token = 1; token < tokens; token++) if (values[token * frames + frame]! > values[best * frames + frame]!) best = token;
    return best;
  };
  const leads = Array.from({ length: frames }, (_, frame) => {
    const at = (token: number) => wanted[token * frames + frame]!;
    return at(likeliest(wanted, frame)) - at(likeliest(found, frame));
  });
  return Math.max(...leads);
}

function differing(a: readonly number[], b: readonly number[]): string {
  const at = a.findIndex((token, i) => token !== b[i]);
  return `the first difference is token ${at < 0 ? a.length : at}`;
}
