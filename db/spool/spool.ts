export interface SpoolWriter {
  /**
   * Writes bytes; they are copied before it returns. Resolves when the store has accepted them: await it for back-pressure. Rejects with
   * code 'ENOSPC' if the store is full.
   */
  write(chunk: Uint8Array): Promise<void>;
  /** Resolves when the file is durable, with its plaintext size and its key, which the caller stores encrypted by the vault. */
  finish(): Promise<{ bytes: number; key: Buffer }>;
  /** Leaves nothing behind. May be called at any time, also after a failure. */
  abort(): Promise<void>;
}

/** Bytes `from` to `to`, inclusive, of a plaintext of `bytes`. */
export interface ByteRange {
  bytes: number;
  from: number;
  to: number;
}

export interface SpoolEntry {
  id: string;
  /** As passed to `create`; ends in `.part` for an unfinished file. */
  extension: string;
}

/** Part of the list of a spool. */
export interface SpoolPage {
  entries: SpoolEntry[];
  /** Where the next page begins; null: this was the last one. */
  next: string | null;
}

/** Uploaded media, encrypted with AES-256-GCM in chunks, a key per file. Shared by all API and engine hosts. */
export interface Spool {
  create(id: string, extension: string): Promise<SpoolWriter>;
  /**
   * Decrypts into the file `into` (mode 0600), which the caller removes. Throws if it is missing, truncated, modified or encrypted with
   * another key.
   */
  open(id: string, extension: string, key: Buffer, into: string, signal?: AbortSignal): Promise<void>;
  /**
   * Decrypts part of a file, a few chunks at a time, and holds nothing open in between: a file that is removed ends the iteration with an
   * error. Throws as `open` does.
   */
  read(id: string, extension: string, key: Buffer, range: ByteRange, signal?: AbortSignal): AsyncIterable<Buffer>;
  /** Succeeds if it does not exist. */
  remove(id: string, extension: string): Promise<void>;
  /** Everything stored, including unfinished files. */
  list(): AsyncIterable<SpoolEntry>;
  /** At most about `limit` files, in the order of their names from `after`, which is the `next` of the previous page or null. */
  page(after: string | null, limit: number): Promise<SpoolPage>;
  /** Throws if nothing can be written. */
  writable(): Promise<void>;
  /** Whether the place has this installation id. Throws if the place cannot be read. */
  marked(mark: string): Promise<boolean>;
  /** Writes an installation id permanently: it is neither listed nor removed. */
  mark(mark: string): Promise<void>;
}
