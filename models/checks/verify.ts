import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Manifest, type ModelFile, manifestOf } from '../manifest.ts';

/** Re-reads every byte of a model's folder. Returns one sentence per damaged or missing file; none: the model is intact. */
export async function verify(folder: string, manifest?: Manifest, signal?: AbortSignal): Promise<string[]> {
  const findings: string[] = [];
  for (const file of (manifest ?? manifestOf(folder)).files) {
    const finding = await check(join(folder, file.name), file, signal);
    if (finding) findings.push(finding);
  }
  return findings;
}

/** Computes the size and checksum of a file as listed in a manifest. */
export async function describe(folder: string, name: string, signal?: AbortSignal): Promise<ModelFile> {
  const path = join(folder, name);
  return { name, bytes: (await stat(path)).size, sha256: await sha256(path, signal) };
}

async function check(path: string, wanted: ModelFile, signal?: AbortSignal): Promise<string | undefined> {
  const found = await stat(path).catch(() => null);
  if (!found) return `${path} is missing`;
  if (found.size !== wanted.bytes)
    return `${path} has ${found.size} bytes, wanted ${wanted.bytes}${found.size < 1024 ? ' (a Git LFS pointer?)' : ''}`;
  return (await sha256(path, signal)) === wanted.sha256 ? undefined : `${path} is damaged: its checksum differs from the manifest`;
}

async function sha256(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash, { signal });
  return hash.digest('hex');
}
