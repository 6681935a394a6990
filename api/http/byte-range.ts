/** Bytes `from` to `to`, inclusive. */
export interface Part {
  from: number;
  to: number;
}

/**
 * The part of `bytes` that a Range header asks for. Null: everything, because the header is absent, malformed, in another unit, or names
 * several ranges, which a server may ignore. `none`: there is no such part.
 */
export function readRange(header: string | undefined, bytes: number): Part | 'none' | null {
  const [, first = '', last = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '') ?? [];
  if (!first && !last) return null;
  if (!first) return Number(last) && bytes ? { from: Math.max(0, bytes - Number(last)), to: bytes - 1 } : 'none';
  const from = Number(first);
  if (last && Number(last) < from) return null;
  return from < bytes ? { from, to: last ? Math.min(Number(last), bytes - 1) : bytes - 1 } : 'none';
}
