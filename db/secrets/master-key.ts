import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../../api/contract/settings.ts';
import { placeNew } from '../ops/exclusive.ts';

const BYTES = 32;

type Sources = Pick<Settings, 'LONGHAND_HOME'> & Partial<Pick<Settings, 'LONGHAND_MASTER_KEY' | 'LONGHAND_MASTER_KEY_FILE'>>;

/**
 * Loads the master keys, newest first: LONGHAND_MASTER_KEY, else LONGHAND_MASTER_KEY_FILE, else `master.key` in LONGHAND_HOME, created at
 * the first start with mode 0600. Without them no transcript can be decrypted.
 */
export async function loadMasterKeys(settings: Sources): Promise<Buffer[]> {
  const found = await findMasterKeys(settings);
  if (found) return found;
  const own = ownFile(settings);
  await makeKeyFile(settings.LONGHAND_HOME, own);
  return parseMasterKeys(await readFile(own, 'utf8'), own);
}

/** The same, but creates none. Null: none is configured, and there is none in LONGHAND_HOME. */
export async function findMasterKeys(settings: Sources): Promise<Buffer[] | null> {
  if (settings.LONGHAND_MASTER_KEY) return parseMasterKeys(settings.LONGHAND_MASTER_KEY, 'LONGHAND_MASTER_KEY');
  const file = settings.LONGHAND_MASTER_KEY_FILE;
  if (file) return parseMasterKeys(await readNamed(file), file);
  const own = ownFile(settings);
  const text = await readFile(own, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return null;
  });
  return text === null ? null : parseMasterKeys(text, own);
}

async function readNamed(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new Error(`Cannot read the master key: LONGHAND_MASTER_KEY_FILE names ${file} (${(error as NodeJS.ErrnoException).code})`, {
      cause: error,
    });
  }
}

const ownFile = ({ LONGHAND_HOME: home }: Sources) => join(home, 'master.key');

/** Parses base64 keys of 32 bytes, separated by commas or line breaks. `source` names them in the error, which never contains a key. */
export function parseMasterKeys(text: string, source: string): Buffer[] {
  const words = text.split(/[\s,]+/).filter(Boolean);
  if (!words.length) throw new Error(`Cannot read the master key: ${source} is empty; it must be base64 of ${BYTES} bytes`);
  return words.map((word, index) => {
    const key = Buffer.from(word, 'base64');
    if (key.length === BYTES) return key;
    throw new Error(
      `Cannot read the master key: number ${index + 1} in ${source} holds ${key.length} bytes; it must be base64 of ${BYTES} bytes (openssl rand -base64 ${BYTES})`,
    );
  });
}

/** An identifier of a master key that reveals nothing about it. */
export function masterKeyId(key: Buffer): string {
  return createHash('sha256').update('longhand master key').update(key).digest('hex').slice(0, 16);
}

/** Creates the file atomically; if two processes try at once, one wins and both read the same key. */
async function makeKeyFile(folder: string, path: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${randomBytes(BYTES).toString('base64')}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    while (!placeNew(draft, path) && !existsSync(path)) await sleep(20); // another process is creating it
  } finally {
    await rm(draft, { force: true });
  }
}
