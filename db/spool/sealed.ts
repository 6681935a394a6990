import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import type { ByteRange } from './spool.ts';

/* Format of an encrypted file: magic (4 bytes), nonce prefix (7), then chunks of ciphertext and tag (16). A chunk's nonce is prefix, number
   (4, big endian), and 1 for the last chunk, else 0 (STREAM construction): chunks cannot be reordered, dropped or truncated. The file's
   name is additional authenticated data. */
const MAGIC = Buffer.from('LHS1');
const PREFIX = 7;
const HEAD = MAGIC.length + PREFIX;
const CHUNK = 262_144; // plaintext bytes
const TAG = 16;
const GROUP = 8; // chunks per read

/** Encrypts a stream of bytes with a new key per file. */
export class Sealer {
  readonly key = randomBytes(32);
  bytes = 0;
  #name: Buffer;
  #prefix = randomBytes(PREFIX);
  #number = 0;
  #pending = Buffer.allocUnsafe(CHUNK);
  #held = 0;
  #begun = false;

  constructor(name: string) {
    this.#name = Buffer.from(name);
  }

  /** Copies `chunk` and returns encrypted chunks ready to be written, if any. */
  push(chunk: Uint8Array): Buffer[] {
    const ready = this.#head();
    this.bytes += chunk.length;
    for (let done = 0; done < chunk.length; ) {
      if (this.#held === CHUNK) ready.push(...this.#seal(false)); // the last chunk is only known at the end
      const taken = Math.min(CHUNK - this.#held, chunk.length - done);
      this.#pending.set(chunk.subarray(done, done + taken), this.#held);
      this.#held += taken;
      done += taken;
    }
    return ready;
  }

  /** The rest of the file. */
  end(): Buffer[] {
    return [...this.#head(), ...this.#seal(true)];
  }

  #head(): Buffer[] {
    if (this.#begun) return [];
    this.#begun = true;
    return [MAGIC, this.#prefix];
  }

  #seal(last: boolean): Buffer[] {
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce(this.#prefix, this.#number++, last)).setAAD(this.#name);
    const text = cipher.update(this.#pending.subarray(0, this.#held));
    cipher.final();
    this.#held = 0;
    return [text, cipher.getAuthTag()];
  }
}

/** Decrypts what `read` returns into a new file, mode 0600. Leaves no file if it throws. */
export async function unseal(read: Read, name: string, key: Buffer, into: string): Promise<void> {
  const file = await open(into, 'wx', 0o600);
  let whole = false;
  try {
    for await (const plain of opened(await read(), Buffer.from(name), key)) await file.writeFile(plain);
    whole = true;
  } finally {
    await file.close();
    if (!whole) await rm(into, { force: true });
  }
}

/** Begins to read a source, whose errors are handled only once it is consumed: until then they would end the process. */
type Read = () => AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>;

async function* opened(source: AsyncIterable<Uint8Array>, name: Buffer, key: Buffer): AsyncGenerator<Buffer> {
  let prefix: Buffer | undefined;
  let number = 0;
  let held = Buffer.alloc(0);
  for await (const piece of source) {
    held = Buffer.concat([held, piece]);
    if (!prefix) {
      if (held.length < HEAD) continue;
      if (!held.subarray(0, MAGIC.length).equals(MAGIC)) throw damaged('it has no valid header');
      prefix = Buffer.from(held.subarray(MAGIC.length, HEAD));
      held = held.subarray(HEAD);
    }
    while (held.length > CHUNK + TAG) {
      yield openChunk(key, nonce(prefix, number++, false), name, held.subarray(0, CHUNK + TAG));
      held = held.subarray(CHUNK + TAG);
    }
  }
  if (!prefix || held.length < TAG) throw damaged('it is truncated');
  yield openChunk(key, nonce(prefix, number, true), name, held);
}

/**
 * Decrypts a range of the plaintext. `fetch` returns the bytes `start` to `end`, inclusive, of the encrypted file, or fewer where it is
 * truncated. A file of another size than `range.bytes` is rejected with its last chunk.
 */
export async function* unsealRange(
  fetch: (start: number, end: number) => Promise<Buffer>,
  name: string,
  key: Buffer,
  range: ByteRange,
): AsyncGenerator<Buffer> {
  const { bytes, from, to } = range;
  const aad = Buffer.from(name);
  const head = await fetch(0, HEAD - 1);
  if (head.length < HEAD || !head.subarray(0, MAGIC.length).equals(MAGIC)) throw damaged('it has no valid header');
  const prefix = head.subarray(MAGIC.length);
  const last = Math.max(0, Math.ceil(bytes / CHUNK) - 1);
  const end = Math.min(last, Math.floor(to / CHUNK));
  for (let first = Math.floor(from / CHUNK); first <= end; first += GROUP) {
    const until = Math.min(end, first + GROUP - 1);
    const start = HEAD + first * (CHUNK + TAG);
    const size = HEAD + Math.min((until + 1) * (CHUNK + TAG), bytes + (last + 1) * TAG) - start;
    const sealed = await fetch(start, start + size - 1);
    if (sealed.length < size) throw damaged('it is truncated');
    const plain: Buffer[] = [];
    for (let number = first; number <= until; number++) {
      const chunk = sealed.subarray((number - first) * (CHUNK + TAG), (number - first + 1) * (CHUNK + TAG));
      plain.push(openChunk(key, nonce(prefix, number, number === last), aad, chunk));
    }
    const base = first * CHUNK;
    yield Buffer.concat(plain).subarray(Math.max(0, from - base), to + 1 - base);
  }
}

function openChunk(key: Buffer, nonce: Buffer, name: Buffer, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG }).setAAD(name).setAuthTag(sealed.subarray(-TAG));
  const plain = decipher.update(sealed.subarray(0, -TAG));
  try {
    decipher.final();
  } catch {
    throw damaged('it was modified or truncated, or its key is a different one');
  }
  return plain;
}

function nonce(prefix: Buffer, number: number, last: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  prefix.copy(nonce);
  nonce.writeUInt32BE(number, PREFIX);
  nonce[11] = last ? 1 : 0;
  return nonce;
}

function damaged(why: string): Error {
  return new Error(`Cannot decrypt the spool file: ${why}`);
}
