import { once } from 'node:events';
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

export interface ZipEntry {
  name: string;
  data: string | Uint8Array;
  modifiedAt: Date;
}

/** Streams a ZIP archive. Pulls `entries` one at a time as the reader consumes them; an empty archive has 22 bytes. */
export async function* zip(entries: AsyncIterable<ZipEntry>): AsyncIterable<Uint8Array> {
  const archive = new ZipFile();
  const output = archive.outputStream as Readable;
  archive.on('error', (error: Error) => output.destroy(error));
  const feeding = feed(archive, entries).catch((error: Error) => output.destroy(error));
  try {
    yield* output as AsyncIterable<Uint8Array>;
  } finally {
    output.destroy();
    await feeding;
  }
}

async function feed(archive: ZipFile, entries: AsyncIterable<ZipEntry>): Promise<void> {
  const closed = new Promise((resolve) => archive.outputStream.once('close', resolve));
  for await (const { name, data, modifiedAt } of entries) {
    const source = Readable.from([Buffer.from(data)]);
    archive.addReadStream(source, name, { mtime: modifiedAt });
    await Promise.race([once(source, 'end'), closed]);
    if ((archive.outputStream as Readable).destroyed) return;
  }
  archive.end();
}
