import type { Db } from '../../db/postgres/orm.ts';
import { mergeDue } from '../../db/search/blocks.ts';
import { hashWords, keepAll } from '../../db/search/keep.ts';
import { type SearchKey, searchKey, termsOf } from '../../db/search/terms.ts';
import type { Vault } from '../../db/secrets/vault.ts';
import { call, type People } from '../calls.ts';
import { openScripts, type Script } from '../said.ts';

const BATCH = 1_024; // transcripts per transaction
const CHECKED = 1_000; // of so many transcripts, one is hashed by `hashWords` as well
const STORED = 200; // turns encrypted together, as in engine/tasks/sealed.ts
const MEMORY = 600_000; // words whose terms are kept

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
}

/**
 * Writes a transcript for every completed call and indexes it by the production code, 1,024 per transaction. Tables are vacuumed in between,
 * as autovacuum does at ordinary rates. Terms of frequent words are hashed once; one transcript of 1,000 is compared with its regular hashes.
 */
export async function fill({ db, owner, vault }: Access, people: People, rows: number, options: FillOptions): Promise<Filled> {
  const { workspaceId } = people;
  const key = await searchKey(vault, workspaceId);
  const [script, hash] = [openScripts(options.words), openHashes(key)];
  const filled: Filled = { textBytes: 0, words: 0, longest: 0, holders: new Map(options.probes.map((probe) => [probe, 0])) };
  const probes = new Map(options.probes.map((probe) => [termsOf(key, [probe], '')[0]!, probe]));
  const ids = await db.acrossTenants((tx) =>
    tx.rows<{ id: string }>(`select id from transcriptions where status = 'completed' order by created_at`),
  );
  const completed = Array.from({ length: rows }, (_, i) => i).filter((i) => call(i).status === 'completed');
  if (ids.length !== completed.length) throw new Error(`Cannot fill: ${ids.length} calls are completed, ${completed.length} were expected`);
  const prepare = (i: number, place: number) => prepareOne(vault, workspaceId, { i, id: ids[place]!.id, script: script(i), hash });
  for (let from = 0; from < completed.length; from += BATCH) {
    const batch = await Promise.all(completed.slice(from, from + BATCH).map((i, k) => prepare(i, from + k)));
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
    if (from % (BATCH * 50) === 0) options.tell(`${from} of ${completed.length} transcripts indexed`);
  }
  return filled;
}

export interface FillOptions {
  /** Words per transcript; undefined: 20 to 10,000. */
  words?: number;
  /** Words whose transcripts are counted. */
  probes: readonly string[];
  tell: (text: string) => void;
}

interface One {
  i: number;
  id: string;
  script: Script;
  hash: (script: Script, title: string) => number[];
}

async function prepareOne(vault: Vault, workspaceId: string, { i, id, script, hash }: One) {
  const title = `Call ${i}.mp3`; // the file name, as bench/calls.ts stores it
  const terms = hash(script, title);
  if (i % CHECKED === 0) {
    const regular = (await hashWords(vault, workspaceId, script.turns, title)).terms;
    if (regular.join() !== terms.join()) throw new Error(`Cannot fill: transcript ${i} has other terms than hashWords() gives`);
  }
  const turns = script.turns.map((text, k) => ({ id: k + 1, start: k * 15, end: k * 15 + 14.5, speaker: `speaker_${(k % 2) + 1}`, text }));
  const sealed: Buffer[] = [];
  for (let at = 0; at < turns.length; at += STORED) {
    const text = JSON.stringify(turns.slice(at, at + STORED));
    sealed.push(await vault.seal(workspaceId, `segments|${id}:${at / STORED}|turns`, text));
  }
  const bytes = script.turns.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return { id, terms, sealed, bytes, words: script.words.length };
}

/** The terms of a transcript as `hashWords` gives them; those of a word are remembered. */
function openHashes(key: SearchKey): One['hash'] {
  const known = new Map<string, number[]>();
  const ofWord = (word: string) => {
    const terms = known.get(word) ?? termsOf(key, [word], '');
    if (known.size < MEMORY) known.set(word, terms);
    return terms;
  };
  return ({ words, turns, unspaced }, title) => {
    if (unspaced) return termsOf(key, turns, title);
    const all = new Set(termsOf(key, [], title));
    for (const word of words) for (const term of ofWord(word)) all.add(term);
    return [...Float64Array.from(all).sort()];
  };
}
