import type { Spool, SpoolEntry } from '../../../db/spool/spool.ts';

const nameOf = ({ id, extension }: SpoolEntry) => `${id}.${extension}`;

/** Names of everything in a spool, as its list returns them. */
export async function names(spool: Spool): Promise<string[]> {
  const all: string[] = [];
  for await (const entry of spool.list()) all.push(nameOf(entry));
  return all;
}

/** The same in pages of about `limit`. */
export async function pagesOf(spool: Spool, limit: number): Promise<string[][]> {
  const pages: string[][] = [];
  for (let after: string | null = null; ; ) {
    const { entries, next } = await spool.page(after, limit);
    pages.push(entries.map(nameOf));
    if (next === null) return pages;
    after = next;
  }
}
