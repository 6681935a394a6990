/**
 * Makes transcripts, in a process of its own, because making a transcript takes longer than writing it: bench/search/fill.ts sends where the
 * database is, then which transcripts it wants, and waits for an answer to each message.
 */
import { once } from 'node:events';
import { openDb } from '../../db/postgres/orm.ts';
import { hashWords } from '../../db/search/keep.ts';
import { type SearchKey, searchKey, termsOf } from '../../db/search/terms.ts';
import { openVault } from '../../db/secrets/vault.ts';
import { openScripts, type Script } from './said.ts';

const CHECKED = 1_000; // of so many transcripts, one is hashed by `hashWords` as well
const STORED = 200; // turns encrypted together, as in engine/tasks/sealed.ts
const MEMORY = 600_000; // words whose terms are kept

/** The first message. */
export interface Start {
  url: string;
  masterKey: Buffer;
  workspaceId: string;
  /** Words per transcript; undefined: 20 to 10,000. */
  words?: number;
}

/** Number of a call, and id of its transcription. */
export interface Wanted {
  i: number;
  id: string;
}

/** A transcript to be written. */
export interface Prepared {
  id: string;
  terms: number[];
  /** Blocks of turns, encrypted. */
  sealed: Buffer[];
  /** Bytes of the spoken text in UTF-8, without title. */
  bytes: number;
  words: number;
}

const [{ url, masterKey, workspaceId, words }] = (await once(process, 'message')) as [Start];
const db = await openDb({ url, name: 'longhand-bench', pool: 1 });
const vault = await openVault(db, [masterKey]);
const [script, hash] = [openScripts(words), openHashes(await searchKey(vault, workspaceId))];
process.once('disconnect', () => process.exit());
process.on('message', async (wanted: Wanted[]) => {
  const prepared = await Promise.all(wanted.map(({ i, id }) => prepareOne({ i, id, script: script(i), hash })));
  process.send!(prepared);
});
process.send!('ready');

interface One extends Wanted {
  script: Script;
  hash: (script: Script, title: string) => number[];
}

async function prepareOne({ i, id, script, hash }: One): Promise<Prepared> {
  const title = `Call ${i}.mp3`; // the file name, as bench/load/calls.ts stores it
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
