import { createHash } from 'node:crypto';
import type { Tx } from '../postgres/orm.ts';
import { type Bits, both, clear, either, emptyBits, count as ones, set } from './bits.ts';
import { TOP } from './keep.ts';
import { bitsOf, bucketOf, unpack } from './postings.ts';
import type { Question } from './terms.ts';

/* SQL: rows of the index by ranges, in one statement. */

/** The transcripts of a workspace that match a query, by number. */
export interface Found {
  /** Number of matches. */
  count: number;
  /** A bit for each number, lowest first in every byte, as PostgreSQL's get_bit reads it. */
  bits: Bits;
  /** Identifies this result set. */
  digest: string;
}

interface Row {
  /** Level of the block; null: a new transcript. */
  level: number | null;
  first: number;
  last: number;
  bucket: number | null;
  data: Buffer | null;
  /** Terms of a new transcript, as indices into the query's terms. */
  held: number[] | null;
}

/** Runs a query against the index, in one snapshot. */
export async function match(tx: Tx, workspaceId: string, question: Question): Promise<Found> {
  const terms = [...new Set(question.flat(2))];
  const rows = await read(tx, workspaceId, terms);
  const size = Math.max(0, ...rows.map(({ last }) => last)) + 1;
  const holders = new Map(terms.map((term) => [term, emptyBits(size)]));
  const wanted = new Set(terms);
  for (const row of rows) {
    if (row.held) for (const place of row.held) set(holders.get(terms[place]!)!, [row.first]);
    else if (row.data)
      unpack(
        row.data,
        row.bucket!,
        { first: row.first, last: row.last, bits: bitsOf(row.level!) },
        (term, numbers) => set(holders.get(term)!, numbers),
        wanted,
      );
  }
  const every = (way: readonly number[]) => way.map((term) => holders.get(term)!).reduce(both);
  const bits = question.map((ways) => ways.map(every).reduce(either)).reduce(both);
  for (const { first, data, held } of rows) if (!data && !held) clear(bits, first);
  return { count: ones(bits), bits, digest: createHash('sha256').update(bits).digest('base64') };
}

/**
 * One statement, so that a merge cannot interfere: buckets of blocks, new transcripts, and (without data) numbers of deleted transcripts.
 */
function read(tx: Tx, workspaceId: string, terms: readonly number[]): Promise<Row[]> {
  const levels = Array.from({ length: TOP }, (_, below) => below + 1);
  const places = levels.flatMap((level) =>
    [...new Set(terms.map((term) => bucketOf(term, bitsOf(level))))].map((bucket) => ({ level, bucket })),
  );
  return tx.rows<Row>(
    `select b.level, b.first, b.last, p.bucket, p.data, null::integer[] as held
     from search_blocks b join unnest(?::integer[], ?::integer[]) q (level, bucket) on q.level = b.level
     join search_postings p on p.block_id = b.id and p.bucket = q.bucket and p.workspace_id = b.workspace_id
     where b.workspace_id = ?::uuid and b.ready
     union all
     select null, f.number, f.number, null, null, array(select q.place - 1 from unnest(?::bigint[]) with ordinality q (term, place) where q.term = any (f.terms))::integer[]
     from search_fresh f where f.workspace_id = ?::uuid
     union all
     select null, g.number, 0, null, null, null from search_gone g where g.workspace_id = ?::uuid`,
    [places.map(({ level }) => level), places.map(({ bucket }) => bucket), workspaceId, terms, workspaceId, workspaceId],
  );
}
