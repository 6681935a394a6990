import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PARTIAL, removeUnfinished } from './unfinished.ts';

const DIGEST = 'sha256';
const DIGEST_BYTES = 32; // before the content of a file: a damaged one is made again

/**
 * The bytes that `make` returns, from the file `NAME-KEY` of `folder` if an earlier process left it there. A folder that cannot be written
 * costs only time. Files with the same name and another key are removed.
 * @param key changes with everything that determines the bytes; letters and digits
 */
export async function kept(folder: string, name: string, key: string, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
  const file = `${name}-${key}`;
  const found = await read(join(folder, file));
  if (found) return found;
  const made = await make();
  await write(folder, file, made).then(
    () => removeOthers(folder, name, file),
    () => {},
  );
  return made;
}

async function read(path: string): Promise<Uint8Array | null> {
  const bytes = await readFile(path).catch(() => null);
  const content = bytes?.subarray(DIGEST_BYTES);
  return content && digest(content).equals(bytes!.subarray(0, DIGEST_BYTES)) ? content : null;
}

/** Appears atomically. */
async function write(folder: string, file: string, content: Uint8Array): Promise<void> {
  const partial = join(folder, `${file}.${randomUUID()}${PARTIAL}`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await removeUnfinished(folder);
  try {
    await writeFile(partial, [digest(content), content], { mode: 0o600 });
    await rename(partial, join(folder, file));
  } finally {
    await rm(partial, { force: true });
  }
}

async function removeOthers(folder: string, name: string, file: string): Promise<void> {
  const others = (await readdir(folder)).filter((entry) => entry.startsWith(`${name}-`) && entry !== file && !entry.endsWith(PARTIAL));
  await Promise.allSettled(others.map((entry) => rm(join(folder, entry))));
}

function digest(content: Uint8Array): Buffer {
  return createHash(DIGEST).update(content).digest();
}
