import { fork } from 'node:child_process';
import type { Db } from '../../db/postgres/orm.ts';
import { mergeDue } from '../../db/search/blocks.ts';
import { keepAll } from '../../db/search/keep.ts';
import { searchKey, termsOf } from '../../db/search/terms.ts';
import type { Vault } from '../../db/secrets/vault.ts';
import { call, type People } from '../load/calls.ts';
import type { Prepared, Start, Wanted } from './prepare.ts';

const BATCH = 1_024; // transcripts per transaction

/** Result of filling. */
export interface Filled {
  /** Bytes of the spoken text in UTF-8, without titles. */
  textBytes: number;
  words: number;
  longest: number;
  /** Number of transcripts that contain each probe. */
  holders: Map<string, number>;
}

interface Access {
  db: Db;
  owner: Db;
  vault: Vault;
  /** Of `db`. */
  url: string;
  /** Of `vault`. */
  masterKey: Buffer;
}

/**
 * Writes a transcript for every completed call and indexes it by the production code, 1,024 per transaction. Tables are vacuumed and analyzed in
 * between, as autovacuum does at ordinary rates. Terms of frequent words are hashed once; one transcript of 1,000 is compared with its regular hashes.
 */
export async function fill(
  { db, owner, vault, url, masterKey }: Access,
  people: People,
  rows: number,
  options: FillOptions,
): Promise<Filled> {
  const { workspaceId } = people;
  const key = await searchKey(vault, workspaceId);
  const filled: Filled = { textBytes: 0, words: 0, longest: 0, holders: new Map(options.probes.map((probe) => [probe, 0])) };
  const probes = new Map(options.probes.map((probe) => [termsOf(key, [probe], '')[0]!, probe]));
  const ids = await db.acrossTenants((tx) =>
    tx.rows<{ id: string }>(`select id from transcriptions where status = 'completed' order by created_at`),
  );
  const completed = Array.from({ length: rows }, (_, i) => i).filter((i) => call(i).status === 'completed');
  if (ids.length !== completed.length) throw new Error(`Cannot fill: ${ids.length} calls are completed, ${completed.length} were expected`);
  const { prepare, close } = await openPreparer({ url, masterKey, workspaceId, words: options.words });
  const next = (from: number) => prepare(completed.slice(from, from + BATCH).map((i, k) => ({ i, id: ids[from + k]!.id })));
  let coming = next(0);
  for (let from = 0; from < completed.length; from += BATCH) {
    const batch = await coming;
    if (from + BATCH < completed.length) coming = next(from + BATCH); // while this one is written
    for (const { terms, bytes, words } of batch) {
      filled.textBytes += bytes;
      filled.words += words;
      filled.longest = Math.max(filled.longest, words);
      for (const term of terms) {
        const probe = probes.get(term);
        if (probe !== undefined) filled.holders.set(probe, filled.holders.get(probe)! + 1);
      }
    }
    const blocks = batch.flatMap(({ id, sealed }) => sealed.map((turns, block) => ({ id, block, turns })));
    await db.workspace(workspaceId, async (tx) => {
      await tx.rows(
        `insert into segments (transcription_id, workspace_id, block, turns_sealed, words_sealed)
         select s.id, ?::uuid, s.block, s.turns, '' from unnest(?::uuid[], ?::integer[], ?::bytea[]) s (id, block, turns)`,
        [workspaceId, blocks.map(({ id }) => id), blocks.map(({ block }) => block), blocks.map(({ turns }) => turns)],
      );
      await keepAll(tx, workspaceId, key.version, batch);
    });
    while (await mergeDue(db));
    for (const table of ['waiting', 'fresh', 'blocks', 'postings', 'states']) await owner.direct(`vacuum search_${table}`);
    if (from % (BATCH * 50) === 0) {
      await owner.direct('analyze search_documents'); // plans made for an empty table compare each of its rows with each of 1,024 ids
      options.tell(`${from} of ${completed.length} transcripts indexed`);
    }
  }
  close();
  return filled;
}

/** Starts bench/search/prepare.ts. */
async function openPreparer(start: Start) {
  const child = fork(new URL('prepare.ts', import.meta.url), { serialization: 'advanced' });
  const ask = (message: Start | Wanted[]) =>
    new Promise<unknown>((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`Cannot fill: bench/search/prepare.ts has ended (${code})`));
      child.once('exit', ended);
      child.once('message', (answer) => {
        child.off('exit', ended);
        resolve(answer);
      });
      child.send(message);
    });
  await ask(start);
  return { prepare: ask as (wanted: Wanted[]) => Promise<Prepared[]>, close: () => child.disconnect() };
}

export interface FillOptions {
  /** Words per transcript; undefined: 20 to 10,000. */
  words?: number;
  /** Words whose transcripts are counted. */
  probes: readonly string[];
  tell: (text: string) => void;
}
