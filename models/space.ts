import { mkdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Variant } from './build/graph/graph.ts';
import { shardsOf } from './build/whisper/safetensors.ts';

/** Bytes of the ONNX files of each variant per byte of the checkpoint (usually half precision). */
const GROWTH: Record<Variant, number> = { int8: 0.7, 'int8-7bit': 0.7, float16: 1.1, float32: 2.1 };
const SPARE = 64 * 2 ** 20; // bytes: tokenizer, descriptor, file system overhead

/** Bytes that an import needs besides the checkpoint. `reference`: with the float32 models for comparison. */
export function importBytes(checkpointBytes: number, variant: Variant, reference: boolean): number {
  return Math.round(checkpointBytes * (GROWTH[variant] + (reference ? GROWTH.float32 : 0))) + SPARE;
}

/** Bytes of the weights in a checkpoint folder. */
export async function checkpointBytes(folder: string): Promise<number> {
  const sizes = await Promise.all(shardsOf(folder).map((name) => stat(join(folder, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

/** Throws if the disk of `home` is too full for a build from a checkpoint. */
export async function checkSpace(home: string, bytes: number, variant: Variant, reference: boolean): Promise<void> {
  await mkdir(join(home, 'models'), { recursive: true });
  await requireSpace(home, importBytes(bytes, variant, reference));
}

/** Throws if fewer than `wanted` bytes are free on a folder's disk. */
export async function requireSpace(folder: string, wanted: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize > wanted) return;
  const gib = (n: number) => `${(n / 2 ** 30).toFixed(1)} GiB`;
  throw new Error(
    `Cannot write to ${folder}: ${gib(bavail * bsize)} are free, but it needs ${gib(wanted)}; free some space or move LONGHAND_HOME`,
  );
}
