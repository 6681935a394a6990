import { join } from 'node:path';
import type { Settings } from '../../api/contract/settings.ts';
import { openFolderSpool } from './folder.ts';

export interface SpoolWriter {
  /**
   * Takes the next bytes; they are copied before it returns. Resolves when they were handed to the store, so waiting for it is the back-pressure.
   * Rejects with code 'ENOSPC' when the store is full.
   */
  write(chunk: Uint8Array): Promise<void>;
  /** Resolves when the file is durable: with its plain size and its key, which the caller stores sealed by the vault. */
  finish(): Promise<{ bytes: number; key: Buffer }>;
  /** Leaves nothing behind. May be called at any time, also after a failure. */
  abort(): Promise<void>;
}

export interface SpoolEntry {
  id: string;
  /** As given to `create`; of an unfinished file it ends in `.part`. */
  extension: string;
  modifiedAt: Date;
}

/** Uploaded media, sealed: AES-256-GCM in chunks, a key per file. Shared by all API and engine hosts. */
export interface Spool {
  create(id: string, extension: string): Promise<SpoolWriter>;
  /** Unseals into the plain file `into` (mode 0600), which the caller removes. Throws when it is absent, shortened, changed or under another key. */
  open(id: string, extension: string, key: Buffer, into: string, signal?: AbortSignal): Promise<void>;
  /** No error when it is absent. */
  remove(id: string, extension: string): Promise<void>;
  /** Everything stored, unfinished files included. */
  list(): AsyncIterable<SpoolEntry>;
  /** Throws when nothing can be written. */
  writable(): Promise<void>;
  /** Whether the place bears this mark. Throws when the place itself cannot be read. */
  marked(mark: string): Promise<boolean>;
  /** Leaves a mark there for good: nothing lists or removes it. */
  mark(mark: string): Promise<void>;
}

/** Opens the place LONGHAND_MEDIA names: a folder, or `s3://bucket/prefix`. */
export async function openSpool(
  settings: Pick<Settings, 'LONGHAND_HOME'> & Partial<Pick<Settings, 'LONGHAND_MEDIA' | 'S3_ENDPOINT'>>,
): Promise<Spool> {
  const place = settings.LONGHAND_MEDIA ?? join(settings.LONGHAND_HOME, 'spool');
  if (place.startsWith('s3://')) {
    const { openS3Spool } = await import('./s3.ts'); // loaded where it is used: its library takes 20 MB
    return openS3Spool(place, settings.S3_ENDPOINT);
  }
  return openFolderSpool(place);
}
