import { createHash } from 'node:crypto';
import { closeSync, createReadStream, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

/** Outcome of one recording at one service. The newest line counts. */
export interface Entry {
  /** `sending` is written before the first byte leaves: of an upload that was killed nobody else knows. */
  state: 'sending' | 'sent' | 'refused';
  /** SHA-256 of the content, hexadecimal. */
  sha256: string;
  /** Address of the service. */
  service: string;
  /** Idempotency-Key of the upload. */
  key: string;
  /** When the first attempt under this key began. */
  at: string;
  /** Of the transcription; null until it is sent. */
  id: string | null;
  /** Why it was refused. */
  reason?: string;
  file: string;
  /** Whether the file is still the one whose content was read. */
  stamp: string;
}

/** A file as it was found. */
export interface Found {
  size: number;
  /** Changes whenever the content may have changed. */
  stamp: string;
}

/** Uploads, in a file of JSON lines that only grows. Recordings are identified by content: names may change or be reused. */
export interface Ledger {
  find(service: string, sha256: string): Entry | null;
  /** Whether a transcription is that of a recording which was sent. */
  knows(service: string, id: string): boolean;
  /** SHA-256 of the content. A file that has not changed since it was last read is not read again. */
  hash(file: string, found: Found): Promise<string>;
  /** Returns when the line is on the disk. */
  write(entry: Entry): void;
}

/** `$XDG_STATE_HOME/longhand/uploads.jsonl`, else in `~/.local/state`. */
export function ledgerPath(): string {
  return path.join(process.env.XDG_STATE_HOME || path.join(homedir(), '.local', 'state'), 'longhand', 'uploads.jsonl');
}

export function openLedger(file: string): Ledger {
  const entries = new Map<string, Entry>();
  const hashes = new Map<string, string>();
  const place = ({ service, sha256 }: Pick<Entry, 'service' | 'sha256'>) => `${service} ${sha256}`;
  const note = (entry: Entry) => {
    entries.set(place(entry), entry);
    hashes.set(`${entry.file}\0${entry.stamp}`, entry.sha256);
  };
  const text = existsSync(file) ? read(file) : '';
  for (const entry of text.split('\n').flatMap(parsed)) note(entry);
  let torn = text !== '' && !text.endsWith('\n'); // a kill in the midst of a line
  return {
    find: (service, sha256) => entries.get(place({ service, sha256 })) ?? null,
    knows: (service, id) => [...entries.values()].some((entry) => entry.id === id && entry.service === service),
    hash: async (file, found) => hashes.get(`${file}\0${found.stamp}`) ?? (await contentHash(file, found.size)),
    write(entry) {
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      const handle = openSync(file, 'a', 0o600);
      try {
        writeSync(handle, `${torn ? '\n' : ''}${JSON.stringify(entry)}\n`);
        fsyncSync(handle);
      } finally {
        closeSync(handle);
      }
      torn = false;
      note(entry);
    },
  };
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw Object.assign(error as Error, { path: file });
  }
}

function parsed(line: string): Entry[] {
  try {
    return line ? [JSON.parse(line) as Entry] : [];
  } catch {
    return [];
  }
}

/** Size and stamp of a file. */
export async function find(file: string): Promise<Found> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file);
    const { size, mtimeNs, ctimeNs, ino } = await handle.stat({ bigint: true });
    return { size: Number(size), stamp: [size, mtimeNs, ctimeNs, ino].join('-') };
  } finally {
    await handle?.close();
  }
}

/** Of the first `size` bytes: those that are sent. */
async function contentHash(file: string, size: number): Promise<string> {
  const hash = createHash('sha256');
  if (size > 0) for await (const chunk of createReadStream(file, { end: size - 1 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
