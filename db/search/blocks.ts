import type { Db, Tx } from '../postgres/orm.ts';
import { BLOCK, indexAgain, TOP } from './keep.ts';
import { bitsOf, bucketOf, type Postings, pack, type Shape, unpack } from './postings.ts';

/* SQL: the index consists of many small rows, merged under its own leases. */

/*
 * A log-structured index. The terms of the newest transcripts are stored individually; 64 transcripts are packed into a block, and 16
 * blocks of a level are merged into one of the next. A query therefore reads about fifty rows per term, however many transcripts there are,
 * and every term is written about four times in total.
 */

/** Transcripts per block of the lowest level, and blocks of a level that are merged into one of the next. */
interface Sizes {
  block: number;
  fan: number;
}

const SIZES: Sizes = { block: BLOCK, fan: 16 };
/** Time for which a merge holds a workspace. SQL. */
export const MERGE_LEASE = `interval '2 minutes'`;
const BUCKETS = 64; // processed in one transaction
const GONE_KEPT = `interval '1 day'`; // maximum time for which terms of deleted transcripts stay in blocks

interface Block extends Shape {
  id: string;
  level: number;
}

/**
 * Claims a workspace whose blocks are due, and performs all due merges. It stays due until then: if this process is killed, or fails, another
 * one continues when the lease has expired. False: there is none. Tests pass smaller sizes.
 */
export async function mergeDue(db: Db, signal?: AbortSignal, sizes = SIZES): Promise<boolean> {
  const taken = await db.acrossTenants((tx) =>
    tx.row<{ workspace_id: string }>(
      `update search_states set merged_until = now() + ${MERGE_LEASE} where workspace_id = (
         select s.workspace_id from search_states s where s.due and s.merged_until <= now() order by s.merged_until limit 1 for update skip locked)
       returning workspace_id`,
    ),
  );
  if (!taken) return false;
  const workspaceId = taken.workspace_id;
  await db.workspace(workspaceId, (tx) =>
    tx.rows('delete from search_blocks b where b.workspace_id = ?::uuid and not b.ready', [workspaceId]),
  );
  let last: number; // number of the newest transcript before the last look for work
  do last = await db.workspace(workspaceId, (tx) => lastNumber(tx, workspaceId));
  while (!signal?.aborted && (await step(db, workspaceId, sizes)));
  await db.workspace(workspaceId, (tx) =>
    tx.rows(
      `update search_states set merged_until = 'epoch', due = ? or last_number / ${BLOCK} > ?::integer / ${BLOCK} where workspace_id = ?::uuid`,
      [signal?.aborted ?? false, last, workspaceId],
    ),
  );
  return true;
}

async function lastNumber(tx: Tx, workspaceId: string): Promise<number> {
  const row = await tx.row<{ last: number }>('select s.last_number as last from search_states s where s.workspace_id = ?::uuid', [
    workspaceId,
  ]);
  return row?.last ?? 0; // null: the workspace was deleted
}

/** Packs one block, or merges several. False: there is nothing to do. */
async function step(db: Db, workspaceId: string, sizes: Sizes): Promise<boolean> {
  if (await db.workspace(workspaceId, (tx) => packFresh(tx, workspaceId, sizes))) return true;
  const plan = await db.workspace(workspaceId, (tx) => planMerge(tx, workspaceId, sizes));
  if (!plan) return false;
  const target = await db.workspace(workspaceId, (tx) =>
    addBlock(tx, workspaceId, plan.level, plan.sources[0]!.first, plan.sources.at(-1)!.last, false),
  );
  const buckets = 2 ** plan.sources[0]!.bits;
  for (let from = 0; from < buckets; from += BUCKETS)
    await db.workspace(workspaceId, async (tx) => {
      await tx.rows(`update search_states set merged_until = now() + ${MERGE_LEASE} where workspace_id = ?::uuid`, [workspaceId]);
      await write(tx, workspaceId, target, await readBuckets(tx, plan, from, from + BUCKETS));
    });
  return db.workspace(workspaceId, (tx) => replace(tx, workspaceId, target, plan));
}

/** Packs the oldest transcripts that are not in a block yet, if there are enough. */
async function packFresh(tx: Tx, workspaceId: string, { block: few, fan }: Sizes): Promise<boolean> {
  const many = few * fan; // packed directly into a block of the second level
  const rows = await tx.rows<{ number: number; terms: number[] }>(
    // as JSON, which the driver parses many times faster than an array
    'select f.number, to_json(f.terms) as terms from search_fresh f where f.workspace_id = ?::uuid order by f.number limit ? for update',
    [workspaceId, many],
  );
  if (rows.length < few) return false;
  const taken = rows.length === many ? rows : rows.slice(0, few);
  const postings: Postings = new Map();
  for (const { number, terms } of taken) for (const term of terms) push(postings, term, [number]);
  const [first, last] = [taken[0]!.number, taken.at(-1)!.number];
  const block = await addBlock(tx, workspaceId, rows.length === many ? 2 : 1, first, last, true);
  await write(tx, workspaceId, block, postings);
  await tx.rows('delete from search_fresh f where f.workspace_id = ?::uuid and f.number between ? and ?', [workspaceId, first, last]);
  return true;
}

interface Plan {
  sources: Block[];
  /** Level of the resulting block. */
  level: number;
  /** Numbers of deleted transcripts, which are left out. */
  gone: Set<number>;
}

/** Chooses blocks that are to be merged; else a block with terms of transcripts deleted long ago. */
async function planMerge(tx: Tx, workspaceId: string, { fan }: Sizes): Promise<Plan | null> {
  const found = await tx.rows<Omit<Block, 'bits'> & { stale: boolean }>(
    `select b.id, b.level, b.first, b.last, exists (select from search_gone g where g.workspace_id = b.workspace_id and g.number between b.first and b.last
       and g.gone_at < now() - ${GONE_KEPT}) as stale
     from search_blocks b where b.workspace_id = ?::uuid and b.ready order by b.first`,
    [workspaceId],
  );
  const blocks = found.map((block) => ({ ...block, bits: bitsOf(block.level) }));
  if (blocks.some(({ first }, k) => first <= (blocks[k - 1]?.last ?? 0))) {
    await indexAgain(tx, workspaceId); // an earlier version has merged blocks that did not adjoin
    return null;
  }
  const full = mergeable(blocks, fan);
  const sources = full ?? blocks.filter(({ stale }) => stale).slice(0, 1);
  if (!sources.length) return null;
  const gone = await tx.rows<{ number: number }>(
    'select g.number from search_gone g where g.workspace_id = ?::uuid and g.number between ? and ?',
    [...[workspaceId, sources[0]!.first, sources.at(-1)!.last]],
  );
  return { sources, level: sources[0]!.level + (full ? 1 : 0), gone: new Set(gone.map(({ number }) => number)) };
}

/**
 * The oldest `fan` blocks of a level with no other block between them. Fewer if newer blocks of a higher level follow, which a backlog leads
 * to: their run cannot grow. The lowest level comes first, so that the next one has no gaps.
 */
function mergeable(blocks: readonly Block[], fan: number): Block[] | undefined {
  const runs: { level: number; blocks: Block[] }[] = [];
  for (const block of blocks) {
    if (runs.at(-1)?.level === block.level) runs.at(-1)!.blocks.push(block);
    else runs.push({ level: block.level, blocks: [block] });
  }
  return runs
    .filter((run, k) => run.level < TOP && (run.blocks.length >= fan || runs.slice(k + 1).some(({ level }) => level > run.level)))
    .sort((a, b) => a.level - b.level)[0]
    ?.blocks.slice(0, fan);
}

async function addBlock(tx: Tx, workspaceId: string, level: number, first: number, last: number, ready: boolean): Promise<Block> {
  const row = await tx.row<{ id: string }>(
    'insert into search_blocks (workspace_id, level, first, last, ready) values (?::uuid, ?, ?, ?, ?) returning id',
    [workspaceId, level, first, last, ready],
  );
  return { id: row!.id, level, first, last, bits: bitsOf(level) };
}

/** Reads the terms in some buckets of all sources. Sources do not overlap and are ordered by transcript number; so are the numbers of each term. */
async function readBuckets(tx: Tx, { sources, gone }: Plan, from: number, before: number): Promise<Postings> {
  const postings: Postings = new Map();
  const rows = await tx.rows<{ block_id: string; bucket: number; data: Buffer }>(
    'select p.block_id, p.bucket, p.data from search_postings p where p.block_id = any (?::bigint[]) and p.bucket >= ? and p.bucket < ?',
    [sources.map(({ id }) => id), from, before],
  );
  for (const source of sources)
    for (const { bucket, data } of rows.filter((row) => row.block_id === source.id))
      unpack(data, bucket, source, (term, numbers) =>
        push(postings, term, gone.size ? numbers.filter((number) => !gone.has(number)) : numbers),
      );
  return postings;
}

function push(postings: Postings, term: number, numbers: readonly number[]): void {
  if (!numbers.length) return;
  const known = postings.get(term);
  if (!known) postings.set(term, [...numbers]);
  else for (const number of numbers) known.push(number);
}

async function write(tx: Tx, workspaceId: string, block: Block, postings: Postings): Promise<void> {
  const buckets = new Map<number, Postings>();
  for (const [term, numbers] of postings) {
    const bucket = bucketOf(term, block.bits);
    buckets.set(bucket, (buckets.get(bucket) ?? new Map()).set(term, numbers));
  }
  const packed = [...buckets].map(([bucket, part]) => [bucket, pack(part, block)] as const);
  await tx.rows(
    `insert into search_postings (block_id, bucket, workspace_id, data)
     select ?::bigint, p.bucket, ?::uuid, p.data from unnest(?::integer[], ?::bytea[]) p (bucket, data)`,
    [block.id, workspaceId, packed.map(([bucket]) => bucket), packed.map(([, data]) => data)],
  );
}

/**
 * Replaces the source blocks by the new one, if all still exist: if this process was suspended for longer than its lease, another one has
 * removed the new block, or merged the sources.
 */
async function replace(tx: Tx, workspaceId: string, target: Block, { sources, gone }: Plan): Promise<boolean> {
  const rows = await tx.rows(
    'delete from search_blocks b where b.workspace_id = ?::uuid and b.id = any (?::bigint[]) and b.ready returning 1',
    [...[workspaceId, sources.map(({ id }) => id)]],
  );
  const { count } = await tx.outcome('update search_blocks set ready = true where workspace_id = ?::uuid and id = ?::bigint', [
    ...[workspaceId, target.id],
  ]);
  if (rows.length < sources.length || !count) throw new Error('Cannot merge blocks of the search index: another engine merges them');
  await tx.rows('delete from search_gone g where g.workspace_id = ?::uuid and g.number = any (?::integer[])', [workspaceId, [...gone]]);
  return true;
}

/** Marks workspaces as due whose blocks contain terms of transcripts deleted a day ago. */
export async function noteStale(db: Db): Promise<void> {
  await db.query(
    '*',
    `update search_states s set due = true where not s.due and exists (
       select from search_gone g where g.workspace_id = s.workspace_id and g.gone_at < now() - ${GONE_KEPT})`,
  );
}
