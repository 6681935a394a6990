/*
 * Imports models of reference.py and compares features, encoder output and greedy tokens with the reference of each clip. Prints a table;
 * exits with 1 if a limit is exceeded.
 * Usage: compare.ts FOLDER NAME…
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openNetwork } from '../../../engine/asr/ctc/recogniser.ts';
import { examine } from '../../../engine/asr/examine.ts';
import { type Features, openFrontEnd } from '../../../engine/asr/features/log-mel.ts';
import { portOf } from '../../../engine/asr/frames/ports.ts';
import type { FrameNetworks } from '../../../engine/asr/frames/recogniser.ts';
import { openNetworks } from '../../../engine/asr/transducer/recogniser.ts';
import { float32, int64, openSession } from '../../../engine/runtime/session.ts';
import type { FrameDescriptor } from '../../../models/descriptor.ts';
import { importPublished } from '../../../models/published/importing.ts';

const FEATURES = 1e-3; // greatest difference of a value
const ENCODER = 1e-2;
const TIE = 1e-3; // of log-probabilities: two runs of PyTorch differ by as much

interface Row {
  clips: number;
  features: number;
  encoder: number;
  tokens: number;
  same: number;
  /** Greatest lead, in the reference, of a token over one that was found instead: a tie within the precision of float32 if tiny. */
  lead: number;
}

const [folder, ...names] = process.argv.slice(2);
const clips = readdirSync(join(folder!, 'clips')).map((file) => file.replace(/\.f32$/, ''));
let failed = false;
process.stdout.write(
  '| model | clips | features | encoder | tokens | clips with the same tokens | lead of the others |\n|---|---|---|---|---|---|---|\n',
);
for (const name of names) {
  const home = mkdtempSync(join(tmpdir(), 'longhand-parity-'));
  try {
    const row = await compared(name, home);
    failed ||= row.features > FEATURES || row.encoder > ENCODER || row.lead > TIE;
    const small = (value: number) => value.toExponential(1);
    process.stdout.write(
      `| ${name} | ${row.clips} | ${small(row.features)} | ${small(row.encoder)} | ${row.tokens} | ${row.same} | ${row.lead ? small(row.lead) : ''} |\n`,
    );
  } finally {
    rmSync(home, { recursive: true });
  }
}
process.exitCode = failed ? 1 : 0;

async function compared(name: string, home: string): Promise<Row> {
  const from = join(folder!, name, 'model');
  const model = await importPublished(from, { home, name, languages: ['en'], variant: 'float32', examine });
  const descriptor = model.descriptor as FrameDescriptor;
  const front = openFrontEnd(descriptor.features);
  const encode = await openEncoder(model.folder, descriptor);
  const row: Row = { clips: clips.length, features: 0, encoder: 0, tokens: 0, same: 0, lead: 0 };
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
    const wanted = JSON.parse(readFileSync(join(folder!, name, 'reference', `${clip}.json`), 'utf8')) as Record<
      'tokens' | 'frames',
      number[]
    >;
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
  return row;
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
  return {
    run: async ({ values, bins, frames }: Features) => {
      const feeds = { [signal]: float32(values, [1, bins, frames]), [length]: int64(BigInt64Array.of(BigInt(frames)), [1]) };
      const { data, dims } = (await session.run(feeds, { [output]: null }))[output]!;
      return ctc ? turned(data as Float32Array, dims[1]!, dims[2]!) : (data as Float32Array);
    },
    close: () => session.close(),
  };
}

function networksOf(home: string, descriptor: FrameDescriptor): Promise<FrameNetworks> {
  const common = { folder: home, device: 'cpu' as const, rows: 1 };
  return descriptor.architecture === 'ctc' ? openNetwork({ ...common, descriptor }) : openNetworks({ ...common, descriptor });
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
