import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Spool, SpoolEntry, SpoolWriter } from '../spool.ts';
import { Sealer, unseal } from './sealed.ts';

const NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([a-z0-9]+(?:\.part)?)$/;
const READ_BYTES = 1_048_576;

/** The spool in a folder, which several hosts may share. Files are `<id>.<extension>`; `.part` is added until they are durable. */
export async function openFolderSpool(folder: string): Promise<Spool> {
  const root = resolve(folder);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const path = (id: string, extension: string) => {
    const name = `${id}.${extension}`;
    if (!NAME.test(name)) throw new Error(`Cannot name a file of the spool: ${JSON.stringify(name)} is not <uuid>.<extension>`);
    return join(root, name);
  };
  return {
    create: async (id, extension) => FolderWriter.open(root, path(id, extension), `${id}.${extension}`),
    open: async (id, extension, key, into, signal) =>
      unseal(createReadStream(path(id, extension), { highWaterMark: READ_BYTES, signal }), `${id}.${extension}`, key, into),
    remove: async (id, extension) => rm(path(id, extension), { force: true }),
    list: () => entries(root),
    async writable() {
      const trial = join(root, `.trial-${randomUUID()}`);
      try {
        const file = await open(trial, 'wx', 0o600);
        try {
          await file.writeFile(Buffer.alloc(4096));
          await file.sync();
        } finally {
          await file.close();
        }
      } finally {
        await rm(trial, { force: true });
      }
    },
  };
}

async function* entries(root: string): AsyncGenerator<SpoolEntry> {
  for await (const entry of await opendir(root)) {
    const [, id, extension] = NAME.exec(entry.name) ?? [];
    if (!id || !extension) continue;
    const found = await stat(join(root, entry.name)).catch(() => null); // it may be gone by now
    if (found) yield { id, extension, modifiedAt: found.mtime };
  }
}

class FolderWriter implements SpoolWriter {
  #file: FileHandle;
  #root: string;
  #path: string;
  #sealer: Sealer;
  #writing: Promise<void> = Promise.resolve();
  #closed = false;

  private constructor(file: FileHandle, root: string, path: string, name: string) {
    this.#file = file;
    this.#root = root;
    this.#path = path;
    this.#sealer = new Sealer(name);
  }

  static async open(root: string, path: string, name: string): Promise<FolderWriter> {
    return new FolderWriter(await open(`${path}.part`, 'wx', 0o600), root, path, name);
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#append(this.#sealer.push(chunk));
  }

  async finish(): Promise<{ bytes: number; key: Buffer }> {
    try {
      await this.#append(this.#sealer.end());
      await this.#file.sync();
      await this.#close();
      await rename(`${this.#path}.part`, this.#path);
      await syncFolder(this.#root);
      return { bytes: this.#sealer.bytes, key: this.#sealer.key };
    } catch (error) {
      await this.abort();
      throw error;
    }
  }

  async abort(): Promise<void> {
    await this.#writing.catch(() => {}); // its caller has heard of it
    await this.#close();
    await rm(`${this.#path}.part`, { force: true });
    await rm(this.#path, { force: true });
  }

  /** Writes in the order of the calls. */
  #append(pieces: Buffer[]): Promise<void> {
    if (pieces.length) {
      const bytes = Buffer.concat(pieces);
      this.#writing = this.#writing.then(() => this.#file.writeFile(bytes));
      this.#writing.catch(() => {}); // whoever awaits the write hears of it
    }
    return this.#writing;
  }

  async #close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#file.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
