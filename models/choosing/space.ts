import { mkdir, readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Variant } from '../build/graph/graph.ts';
import { isInt8 } from '../build/whisper/config.ts';
import { HIDDEN, PARTIAL, removeUnfinished } from '../install/unfinished.ts';

/** Bytes of the ONNX files of each variant per parameter. In float16, loop.onnx has the weights once more. */
const BYTES: Record<Variant, number> = { int8: 1.4, 'int8-7bit': 1.4, float16: 4.2, float32: 4.2 };
const SPARE = 64 * 2 ** 20; // bytes: tokenizer, descriptor, file system overhead

/** Bytes that an import needs besides the checkpoint. `compared`: 8 bits are measured beside float32. */
export function importBytes(parameters: number, variant: Variant, compared: boolean): number {
  const reference = compared && isInt8(variant) ? BYTES.float32 : 0;
  return Math.round(parameters * (BYTES[variant] + reference)) + SPARE;
}

/** Whether an error says that the disk, or what this account may take of it, is full. */
export function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Throws if the disk of the models is too full for a build from a checkpoint. */
export async function checkSpace(home: string, parameters: number, variant: Variant, compared: boolean): Promise<void> {
  await requireSpace(home, importBytes(parameters, variant, compared));
}

/** Throws if fewer than `wanted` bytes are free where the models are, which may be a volume of its own, after removing what was abandoned there. */
export async function requireSpace(home: string, wanted: number): Promise<void> {
  const models = join(home, 'models');
  await mkdir(models, { recursive: true });
  await removeUnfinished(models, HIDDEN);
  const { bavail, bsize } = await statfs(models);
  if (bavail * bsize > wanted) return;
  const gib = (n: number) => `${(n / 2 ** 30).toFixed(1)} GiB`;
  const left = (await readdir(models)).filter((name) => name.startsWith(HIDDEN) && name.endsWith(PARTIAL));
  const unfinished = left.length ? `; delete ${left.join(', ')} there if that import was killed: they are removed an hour later` : '';
  throw new Error(
    `Cannot write to ${models}: ${gib(bavail * bsize)} are free, but it needs ${gib(wanted)}; free some space or move LONGHAND_HOME${unfinished}`,
  );
}
