import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { shapesOf } from '../../../models/build/whisper/shapes.ts';
import { readWhisper } from '../../../models/descriptor.ts';
import { importModel } from '../../../models/install/importing.ts';
import type { ImportOptions } from '../../../models/install/making.ts';
import { SHIPPED_FOLDER } from '../../../models/manifest.ts';
import { found } from '../measured.ts';

const BASE = join(SHIPPED_FOLDER, 'whisper-base');
const json = (name: string) => JSON.parse(readFileSync(join(BASE, name), 'utf8'));
const OWN: [number, number][] = [
  [2, 2],
  [3, 0],
  [3, 2],
  [3, 3],
  [3, 4],
  [3, 5],
]; // published for tiny
const FOREIGN: [number, number][] = [
  [1, 0],
  [2, 0],
  [2, 5],
  [3, 0],
  [3, 1],
  [3, 2],
  [3, 3],
  [3, 4],
]; // for tiny.en

/** A checkpoint with the layers, heads and vocabulary of tiny, but narrow and random, that lists the heads of tiny.en. */
function checkpoint(folder: string): string {
  mkdirSync(folder);
  for (const name of ['tokenizer.json', 'preprocessor_config.json', 'LICENSE']) cpSync(join(BASE, name), join(folder, name));
  const sizes = { d_model: 96, encoder_ffn_dim: 384, decoder_ffn_dim: 384, encoder_layers: 1, decoder_layers: 4, num_hidden_layers: 1 };
  const config = { ...json('config.json'), ...sizes, encoder_attention_heads: 6, decoder_attention_heads: 6 };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'generation_config.json'), JSON.stringify({ ...json('generation_config.json'), alignment_heads: FOREIGN }));
  let seed = 1;
  const half = () => ((seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) & 0x8000) | 0x2400 | (seed >>> 22); // ±0.016 to ±0.031; Numerical Recipes' generator
  const header: Record<string, unknown> = {};
  const bodies: Uint16Array[] = [];
  let at = 0;
  for (const [name, shape] of shapesOf(config)) {
    const values = Uint16Array.from({ length: shape.reduce((a, b) => a * b) }, half);
    header[name] = { dtype: 'F16', shape, data_offsets: [at, (at += values.byteLength)] };
    bodies.push(values);
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  writeFileSync(join(folder, 'model.safetensors'), Buffer.concat([length, text, ...bodies.map((values) => Buffer.from(values.buffer))]));
  return folder;
}

const headsOf = (folder: string) => readWhisper(folder).dimensions.alignmentHeads;

/** Measures 10 % errors with these heads, and 30 % with others. `counted`: called at each measurement. */
function preferring(heads: [number, number][], counted?: () => void): ImportOptions['measure'] {
  return async (folder) => {
    counted?.();
    return found(JSON.stringify(headsOf(folder)) === JSON.stringify(heads) ? 0.1 : 0.3);
  };
}

t.test('importModel() takes the alignment heads that a checkpoint lists for another size only if it then makes fewer errors', async (t) => {
  const home = t.testdir();
  const from = checkpoint(join(home, 'narrow'));
  const made = async (name: string, options: Partial<ImportOptions>) =>
    importModel(from, { home, name, variant: 'int8', quick: true, force: true, ...options });
  let measurements = 0;
  const copied = await made('copied', { measure: preferring(OWN, () => measurements++) });
  t.equal(measurements, 2, 'each form once');
  t.strictSame(headsOf(copied.folder), OWN, 'the file was copied from another checkpoint');
  const deepened = await made('deepened', { measure: preferring(FOREIGN) });
  t.strictSame(headsOf(deepened.folder), FOREIGN, 'the decoder was made from that of the other size');
  t.strictSame(headsOf((await made('unmeasured', {})).folder), OWN, 'if nothing is measured, those of its size');
  const converted = await importModel(deepened.folder, { home, name: 'converted', variant: 'float32', force: true });
  t.strictSame(headsOf(converted.folder), FOREIGN, 'a conversion of the model keeps them');
});
