import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lseOf } from '../../engine/asr/whisper/decoding/sampling.ts';
import { FRAME_SAMPLES, foldedFrames, MARGIN_SAMPLES } from '../../engine/asr/whisper/frames.ts';
import { float32, int8, int64, openSession, type Tensor } from '../../engine/runtime/session.ts';
import type { Graph } from '../../models/build/graph/graph.ts';
import { toBytes } from '../../models/build/graph/write.ts';
import { fromFloat16 } from '../../models/build/whisper/safetensors.ts';
import { readDescriptor } from '../../models/descriptor.ts';
import { samples } from './checkpoint.ts';

export type Outputs = Record<string, Tensor>;

export interface Network {
  inputs: readonly string[];
  /** Encoder outputs for `samples` [rows x samples]. */
  encode(samples: Float32Array, rows: number): Promise<Outputs>;
  /** One decoder step on the same number of tokens in every row; the cache and positions are kept until `forget`. `asked`: rows for which text outputs are computed. */
  step(cross: Outputs, tokens: number[][], asked?: number[]): Promise<Outputs>;
  /** Runs the decoder with the given feeds, cache included. */
  decode(feeds: Outputs): Promise<Outputs>;
  forget(): void;
}

/** Opens the graphs of a model folder; they are closed when the test ends. */
export async function openNetwork(t: { teardown(after: () => unknown): void }, folder: string): Promise<Network> {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  const { decoder_layers: layers, decoder_attention_heads: heads } = config;
  const width = config.d_model / heads;
  const hop = readDescriptor(folder).window.samplesPerStep / 2;
  const encoder = await openSession(join(folder, 'encoder.onnx'));
  const decoder = await openSession(join(folder, 'decoder.onnx'));
  t.teardown(() => Promise.all([encoder.close(), decoder.close()]));
  let past = 0;
  let cache: Outputs = {};
  const grow = (old: Tensor | undefined, added: Tensor) => {
    const [rows, , fresh] = added.dims as [number, number, number];
    const before = old?.dims[2] ?? 0;
    const data = new Float32Array(rows * heads * (before + fresh) * width);
    for (let i = 0; i < rows * heads; i++) {
      if (old) data.set((old.data as Float32Array).subarray(i * before * width, (i + 1) * before * width), i * (before + fresh) * width);
      data.set((added.data as Float32Array).subarray(i * fresh * width, (i + 1) * fresh * width), (i * (before + fresh) + before) * width);
    }
    return float32(data, [rows, heads, before + fresh, width]);
  };
  return {
    inputs: decoder.inputs,
    async encode(samples, rows) {
      const each = samples.length / rows;
      const frames = each / hop;
      const folded = new Float32Array(rows * frames * FRAME_SAMPLES);
      for (let row = 0; row < rows; row++) {
        const sound = new Float32Array(each + FRAME_SAMPLES);
        sound.set(samples.subarray(row * each, (row + 1) * each), MARGIN_SAMPLES);
        foldedFrames(sound, hop, folded.subarray(row * frames * FRAME_SAMPLES));
      }
      return encoder.run({ frames: float32(folded, [rows, 4, frames, FRAME_SAMPLES / 4]) });
    },
    decode: (feeds) => decoder.run(feeds),
    async step(cross, tokens, asked = [...tokens.keys()]) {
      const rows = tokens.length;
      const fresh = tokens[0]!.length;
      const mask = new Float32Array(rows * fresh * (past + fresh));
      for (let i = 0; i < rows * fresh; i++) mask.fill(-1e9, i * (past + fresh) + past + (i % fresh) + 1, (i + 1) * (past + fresh));
      const feeds: Outputs = {
        tokens: ids(tokens.flat(), [rows, fresh]),
        pos: ids(
          tokens.flatMap((row) => row.map((_, i) => past + i)),
          [rows, fresh],
        ),
        asked: ids(asked, [asked.length]),
        mask: float32(mask, [rows, 1, fresh, past + fresh]),
        ...wholeBlocks(cross),
      };
      for (const name of cacheNames(layers)) {
        const kept = cache[name] ?? float32(new Float32Array(0), [rows, heads, 0, width]);
        feeds[`p${name}`] = name.startsWith('k') ? byChannel(kept) : kept;
      }
      const outputs = await decoder.run(feeds);
      if (cross.cs0) outputs.align = firstOf(outputs.align!, cross[`cs${layers - 1}`]!.dims[3]!);
      for (const name of cacheNames(layers)) cache[name] = grow(cache[name], outputs[`n${name}`]!);
      past += fresh;
      return outputs;
    },
    forget() {
      past = 0;
      cache = {};
    },
  };
}

const TIMESTAMPS = 1501;

/** Summarises logits as the fixtures do: maxima and log-sum-exp of tokens before the timestamps, of timestamps and of all; special tokens in full. */
export function summarised({ text, special, align }: Outputs): Outputs {
  const [rows, endOfText] = text!.dims as [number, number];
  const others = special!.dims[1]!;
  const line = (tensor: Tensor, row: number, length: number) => (tensor.data as Float32Array).subarray(row * length, (row + 1) * length);
  const all = Array.from({ length: rows }, (_, row) => [...line(text!, row, endOfText), ...line(special!, row, others)]);
  const times = all.map((logits) => logits.slice(-TIMESTAMPS));
  const before = all.map((logits) => logits.slice(0, -TIMESTAMPS));
  const highest = (parts: number[][]) => parts.map((part) => part.reduce((a, b) => Math.max(a, b)));
  const first = (parts: number[][]) => highest(parts).map((max, row) => parts[row]!.indexOf(max));
  const floats = (values: number[]) => float32(Float32Array.from(values), [rows]);
  return {
    ...{ textId: ids(first(before), [rows]), textMax: floats(highest(before)) },
    ...{
      timeId: ids(first(times), [rows]),
      timeMax: floats(highest(times)),
      timeLse: floats(times.map(lseOf)),
      lse: floats(all.map(lseOf)),
    },
    special: float32(Float32Array.from(before.flatMap((logits) => logits.slice(endOfText))), [rows, others - TIMESTAMPS]),
    align: align!,
  };
}

const MASKED = 1e7; // as in engine/asr/whisper/encode.ts

/** Encoder outputs of an 8-bit model, padded to whole blocks of keys, as the engine pads them to a whole window. */
function wholeBlocks(cross: Outputs): Outputs {
  const whole = { ...cross };
  for (let l = 0; cross[`cs${l}`]; l++) {
    const [rows, heads, , blocks, width, block] = cross[`ck${l}`]!.dims as [number, number, number, number, number, number];
    const [sums, values] = [cross[`cs${l}`]!, cross[`cv${l}`]!];
    const steps = sums.dims[3]!;
    const long = { sums: new Float32Array(rows * heads * blocks * block), values: new Int8Array(rows * heads * blocks * block * width) };
    long.sums.fill(MASKED);
    for (let i = 0; i < rows * heads; i++) {
      long.sums.set((sums.data as Float32Array).subarray(i * steps, (i + 1) * steps), i * blocks * block);
      long.values.set((values.data as Int8Array).subarray(i * steps * width, (i + 1) * steps * width), i * blocks * block * width);
    }
    whole[`cs${l}`] = float32(long.sums, [rows, heads, 1, blocks * block]);
    whole[`cv${l}`] = int8(long.values, [rows, heads, blocks * block, width]);
  }
  return whole;
}

/** [rows x heads x positions x width] as [rows x heads x width x positions]. */
export function byChannel({ data, dims }: Tensor): Tensor {
  const [rows, heads, positions, width] = dims as [number, number, number, number];
  const turned = new Float32Array(data.length);
  for (let i = 0; i < data.length; i++) {
    const [head, position, channel] = [Math.floor(i / (positions * width)), Math.floor(i / width) % positions, i % width];
    turned[(head * width + channel) * positions + position] = (data as Float32Array)[i]!;
  }
  return float32(turned, [rows, heads, width, positions]);
}

/** The first `steps` values of the last axis of [rows x heads x longer]. */
function firstOf({ data, dims }: Tensor, steps: number): Tensor {
  const [rows, heads, all] = dims as [number, number, number];
  const kept = Float32Array.from({ length: rows * heads * steps }, (_, i) => Number(data[Math.floor(i / steps) * all + (i % steps)]));
  return float32(kept, [rows, heads, steps]);
}

export function ids(values: number[], dims: number[]): Tensor {
  return int64(BigInt64Array.from(values, BigInt), dims);
}

/** `k0`, `v0`, `k1` … */
export function cacheNames(layers: number): string[] {
  return Array.from({ length: layers * 2 }, (_, i) => `${i % 2 ? 'v' : 'k'}${i >> 1}`);
}

/** Values of a tensor of any type as numbers. */
export function numbers(tensor: Tensor): number[] {
  return tensor.type === 'float16' ? [...fromFloat16(tensor.data as Uint16Array)] : Array.from(tensor.data as Iterable<number>, Number);
}

/** Largest difference between two lists of the same length; NaN when the lengths differ. */
export function difference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length || a.length === 0) return Number.NaN;
  let largest = 0;
  for (let i = 0; i < a.length; i++) largest = Math.max(largest, Math.abs(a[i]! - b[i]!));
  return largest;
}

const STEPS = 50;

/** Cross-attention values of a decoder layer that an encoder under construction returns for the noise of `samples()`, dequantised. */
export async function crossValues(g: Graph, layer: number, hop: number): Promise<number[]> {
  const session = await openSession(toBytes(g));
  try {
    const sound = new Float32Array(2 * STEPS * hop + 2 * MARGIN_SAMPLES);
    sound.set(samples().subarray(0, 2 * STEPS * hop), MARGIN_SAMPLES);
    const frames = foldedFrames(sound, hop, new Float32Array(2 * STEPS * FRAME_SAMPLES));
    const out = await session.run({ frames: float32(frames, [1, 4, 2 * STEPS, FRAME_SAMPLES / 4]) });
    const values = out[`cv${layer}`]!;
    const scale = out[`vsc${layer}`];
    if (!scale) return numbers(values);
    const scales = numbers(scale); // [heads x width]
    const [, , keys, width] = values.dims as [number, number, number, number];
    return numbers(values).map((value, i) => value * scales[Math.floor(i / (keys * width)) * width + (i % width)]!);
  } finally {
    await session.close();
  }
}

/** Norm of the difference relative to that of the expected values. */
export function apart(found: number[], expected: number[]): number {
  const sum = (values: number[]) => values.reduce((total, value) => total + value ** 2, 0);
  return Math.sqrt(sum(found.map((value, i) => value - expected[i]!)) / sum(expected));
}
