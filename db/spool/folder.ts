import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, opendir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Sealer, unseal, unsealRange } from './sealed.ts';
import type { Spool, SpoolEntry, SpoolPage, SpoolWriter } from './spool.ts';

const NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([a-z0-9]+(?:\.part)?)$/;
const READ_BYTES = 1_048_576;
const READ_NAMES = 1024; // at once
const CLOSED = /^(EACCES|EPERM|ENOTDIR|ENOTCONN|EHOSTDOWN)$/; // errors of a share that is unavailable or not accessible to this account

/** A spool in a folder, which several hosts may share. Files are named `<id>.<extension>`, with `.part` appended until they are durable. */
export async function openFolderSpool(folder: string): Promise<Spool> {
  const root = resolve(folder);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const path = (id: string, extension: string) => {
    const name = `${id}.${extension}`;
    if (!NAME.test(name)) throw new Error(`Cannot name a file of the spool: ${JSON.stringify(name)} is not <uuid>.<extension>`);
    return join(root, name);
  };
  return {
    create: async (id, extension) => FolderWriter.open(root, path(id, extension), `${id}.${extension}`).catch(away(root, 'ENOENT')),
    async open(id, extension, key, into, signal) {
      const from = path(id, extension);
      const read = () => createReadStream(from, { highWaterMark: READ_BYTES, signal });
      await unseal(read, `${id}.${extension}`, key, into).catch((error) =>
        error.path === from ? away(root)(error) : Promise.reject(error),
      );
    },
    read(id, extension, key, range, signal) {
      const from = path(id, extension);
      const fetch = (start: number, end: number) => {
        signal?.throwIfAborted();
        return readPart(from, start, end).catch(away(root));
      };
      return unsealRange(fetch, `${id}.${extension}`, key, range);
    },
    remove: async (id, extension) => rm(path(id, extension), { force: true }),
    list: () => entries(root),
    page: (after, limit) => pageOf(root, after, limit).catch(away(root, 'ENOENT')),
    async writable() {
      const trial = join(root, '.trial'); // one name for all processes: what a killed one leaves, the next check removes
      try {
        const file = await open(trial, 'w', 0o600).catch(away(root, 'ENOENT'));
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
    async marked(mark) {
      const names = await readdir(join(root, markName(mark))).catch((error) => (error.code === 'ENOENT' ? null : away(root)(error)));
      if (!names) await stat(root).catch(away(root, 'ENOENT'));
      return names !== null;
    },
    async mark(mark) {
      await mkdir(join(root, markName(mark)), { mode: 0o700 }).catch(away(root, 'ENOENT'));
      await syncFolder(root);
    },
  };
}

/** The bytes `start` to `end`, inclusive, or fewer at the end of the file. */
async function readPart(path: string, start: number, end: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const into = Buffer.allocUnsafe(end - start + 1);
    let held = 0;
    while (held < into.length) {
      const { bytesRead } = await file.read(into, held, into.length - held, start + held);
      if (!bytesRead) break;
      held += bytesRead;
    }
    return into.subarray(0, held);
  } finally {
    await file.close();
  }
}

/** An empty folder, so that listing files returns recordings only. */
function markName(mark: string): string {
  return `.longhand-${mark}`;
}

/** Maps errors that do not concern a single file to EIO, for which requests fail temporarily and work is retried. */
function away(root: string, ...also: string[]) {
  return (error: NodeJS.ErrnoException): never => {
    if (!CLOSED.test(String(error.code)) && !also.includes(String(error.code))) throw error;
    const cannot = new Error(`Cannot use the folder of LONGHAND_MEDIA, ${root}: ${error.code}`, { cause: error });
    throw Object.assign(cannot, { code: 'EIO' });
  };
}

async function* entries(root: string): AsyncGenerator<SpoolEntry> {
  for await (const { name } of await opendir(root, { bufferSize: READ_NAMES })) {
    const [, id, extension] = NAME.exec(name) ?? [];
    if (id && extension) yield { id, extension };
  }
}

/** Reads all names, but keeps only those of the page. */
async function pageOf(root: string, after: string | null, limit: number): Promise<SpoolPage> {
  let names: string[] = [];
  let last = null as string | null; // the largest name that still belongs to the page, once it is full
  let more = false;
  const trim = () => {
    names = names.sort().slice(0, limit);
    last = names.at(-1)!;
    more = true;
  };
  for await (const { name } of await opendir(root, { bufferSize: READ_NAMES })) {
    if ((after !== null && name <= after) || (last !== null && name > last) || !NAME.test(name)) continue;
    if (names.push(name) >= 2 * limit) trim();
  }
  if (names.length > limit) trim();
  names.sort();
  const entries = names.map((name) => {
    const [, id, extension] = NAME.exec(name)!;
    return { id: id!, extension: extension! };
  });
  return { entries, next: more ? names.at(-1)! : null };
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
      return away(this.#root, 'ENOENT')(error as Error);
    }
  }

  async abort(): Promise<void> {
    await this.#writing.catch(() => {}); // already reported to its caller
    await this.#close();
    await rm(`${this.#path}.part`, { force: true });
    await rm(this.#path, { force: true });
  }

  /** Writes in the order of the calls. */
  #append(pieces: Buffer[]): Promise<void> {
    if (pieces.length) {
      const bytes = Buffer.concat(pieces);
      this.#writing = this.#writing.then(() => this.#file.writeFile(bytes));
      this.#writing.catch(() => {}); // handled by whoever awaits the write
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
