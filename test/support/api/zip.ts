import { type Entry, fromBuffer, type ZipFile } from 'yauzl';

/** One file of a ZIP archive, as text. */
export function member(archive: Buffer, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    fromBuffer(archive, { lazyEntries: false }, (error: Error | null, zip: ZipFile) => {
      if (error) return reject(error);
      zip.on('entry', (entry: Entry) => {
        if (entry.fileName !== name) return;
        zip.openReadStream(entry, async (failed, stream) => {
          if (failed) return reject(failed);
          resolve(Buffer.concat(await stream.toArray()).toString());
        });
      });
      zip.on('error', reject);
    });
  });
}
