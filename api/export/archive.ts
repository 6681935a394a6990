import { entryNames } from './names.ts';
import { type ZipEntry, zip } from './zip.ts';

/** Headers and body of `transcriptions.zip`. */
export interface Archive {
  headers: Record<string, string>;
  stream: AsyncIterable<Uint8Array>;
}

/** An archive with a file per transcription, named after its title. `make` returns null for those that were deleted meanwhile. */
export function archive(
  titles: readonly { id: string; title: string | null }[],
  format: string,
  make: (id: string) => Promise<Omit<ZipEntry, 'name'> | null>,
): Archive {
  return {
    headers: { 'content-type': 'application/zip', 'content-disposition': 'attachment; filename="transcriptions.zip"' },
    stream: zip(entries(titles, format, make)),
  };
}

/** The files, made one at a time. */
async function* entries(
  titles: Parameters<typeof archive>[0],
  format: string,
  make: Parameters<typeof archive>[2],
): AsyncIterable<ZipEntry> {
  const names = entryNames(
    titles.map(({ title }) => title),
    format,
  );
  for (const [index, { id }] of titles.entries()) {
    const made = await make(id);
    if (made) yield { name: names[index]!, ...made };
  }
}
