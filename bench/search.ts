/**
 * Latency of searches in a very large workspace, over HTTP with everything on this machine, and the size of the index: `node --import tsx
 * bench/search.ts [--rows 1000000] [--words 250] [--rounds 200] [--json]`. Targets: p95 under 150 ms, an index under 30 % of the text.
 * Word frequencies follow Zipf's law; every request uses different words.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startApp } from '../api/app.ts';
import { readSettings } from '../api/contract/settings.ts';
import { openLog } from '../db/ops/log.ts';
import { startEmbedded } from '../db/postgres/embedded.ts';
import { migrate } from '../db/postgres/migrate.ts';
import { type Db, openDb } from '../db/postgres/orm.ts';
import { mergeDue } from '../db/search/blocks.ts';
import { searchKey, termsOf } from '../db/search/terms.ts';
import { openVault, type Vault } from '../db/secrets/vault.ts';
import { openSpool } from '../db/spool/open.ts';
import { makePeople, type People, writeCalls } from './calls.ts';
import { askList, type Page } from './lists.ts';
import { nameOf, openScripts, type Script, textOf, wordOf } from './said.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    words: { type: 'string', default: '250' },
    rounds: { type: 'string', default: '200' },
    json: { type: 'boolean', default: false },
  },
});
const BATCH = 1_024; // transcripts per insert
const [rows, words, rounds] = [Number(values.rows), Number(values.words), Number(values.rounds)];
const home = mkdtempSync(join(tmpdir(), 'longhand-search-'));
const postgres = await startEmbedded(join(home, 'postgres'), { durable: false });
const tell = (text: string) => process.stderr.write(`${text}\n`);
try {
  const db = await openDb({ url: postgres.url, name: 'longhand-bench' });
  const owner = await openDb({ url: postgres.url, pool: 1 });
  try {
    await migrate(db);
    const vault = await openVault(db, [randomBytes(32)]);
    const people = await makePeople(db, vault);
    await owner.direct('alter table transcriptions disable trigger user');
    await owner.direct('alter table segments disable trigger user');
    await writeCalls(db, vault, people, rows, (done) => done % 100_000 || tell(`${done} rows`));
    await owner.direct('alter table transcriptions enable trigger user');
    const textBytes = await say(db, owner, vault, people);
    await owner.direct('alter table segments enable trigger user');
    await owner.direct('vacuum (analyze)');
    report(textBytes, await sizesOf(owner), await measure(db, vault, people));
  } finally {
    await owner.close();
    await db.close();
  }
} finally {
  await postgres.stop();
  rmSync(home, { recursive: true, force: true });
}

/**
 * Writes transcripts for all completed calls, and their index, in bulk, in the same form as transcripts are indexed individually; blocks are
 * built by the production code. Tables are vacuumed every 1,024 transcripts, as autovacuum does at ordinary rates. Returns the bytes of text.
 */
async function say(db: Db, owner: Db, vault: Vault, { workspaceId }: People): Promise<number> {
  const script = openScripts(words);
  const key = await searchKey(vault, workspaceId);
  const known = new Map<number, number>();
  const termOf = (rank: number) => {
    const term = known.get(rank) ?? termsOf(key, [wordOf(rank)], '')[0]!;
    known.set(rank, term);
    return term;
  };
  const terms = ({ ranks, names }: Script) => [...new Set([...ranks.map(termOf), ...termsOf(key, names, '')])];
  await db.query(workspaceId, 'insert into search_states (workspace_id, key_version) values (?::uuid, ?)', [workspaceId, key.version]);
  const calls = await db.acrossTenants((tx) =>
    tx.rows<{ id: string }>(`select id from transcriptions where status = 'completed' order by created_at`),
  );
  let bytes = 0;
  for (let from = 0; from < calls.length; from += BATCH) {
    const batch = calls.slice(from, from + BATCH).map(({ id }, k) => ({ id, number: from + k + 1, script: script(from + k) }));
    const turns = await Promise.all(
      batch.map(async ({ id, script }) => {
        const text = textOf(script);
        bytes += text.length;
        return vault.seal(
          workspaceId,
          `segments|${id}:0|turns`,
          JSON.stringify([{ id: 1, start: 0, end: 90, speaker: 'speaker_1', text }]),
        );
      }),
    );
    await db.acrossTenants(async (tx) => {
      const ids = batch.map(({ id }) => id);
      await tx.rows(
        `insert into segments (transcription_id, workspace_id, block, turns_sealed, words_sealed)
         select s.id, ?::uuid, 0, s.turns, '' from unnest(?::uuid[], ?::bytea[]) s (id, turns)`,
        [workspaceId, ids, turns],
      );
      await tx.rows('insert into search_documents select d.id, ?::uuid, d.number from unnest(?::uuid[], ?::integer[]) d (id, number)', [
        ...[workspaceId, ids, batch.map(({ number }) => number)],
      ]);
      await tx.rows(
        'insert into search_fresh select ?::uuid, f.number, f.terms::bigint[] from unnest(?::integer[], ?::text[]) f (number, terms)',
        [workspaceId, batch.map(({ number }) => number), batch.map(({ script }) => `{${terms(script).join()}}`)],
      );
      await tx.rows('update search_states set last_number = ?, due = true where workspace_id = ?::uuid', [
        from + batch.length,
        workspaceId,
      ]);
    });
    while (await mergeDue(db));
    for (const table of ['fresh', 'blocks', 'postings', 'states']) await owner.direct(`vacuum search_${table}`);
    if ((from / BATCH) % 100 === 0) tell(`${from} said`);
  }
  return bytes;
}

interface Size {
  table: string;
  /** Including indexes and TOAST. */
  bytes: number;
  rows: number;
}

/** Tables of the search. */
async function sizesOf(owner: Db): Promise<Size[]> {
  const rows = await owner.direct(
    `select relname as table, pg_total_relation_size(oid)::float8 as bytes, greatest(reltuples, 0)::float8 as rows
     from pg_class where relkind = 'r' and relname like 'search\\_%' order by 2 desc`,
  );
  return rows as unknown as Size[];
}

type Query = (round: number) => string;

/**
 * Queries of one to three words, from the most frequent words to those of a single transcript, alone and with filters, orders and pages.
 */
function queries(): [name: string, query: Query][] {
  const common: Query = (n) => wordOf(n % 10);
  const usual: Query = (n) => wordOf(100 + ((n * 7) % 900));
  const rare: Query = (n) => wordOf(20_000 + ((n * 131) % 30_000));
  const own: Query = (n) => nameOf((n * 7919) % rows, 0);
  const q = (...parts: Query[]): Query => {
    return (n) => `q=${parts.map((part) => part(n)).join('+')}`;
  };
  const plus = (query: Query, more: string): Query => {
    return (n) => `${query(n)}&${more}`;
  };
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const month = `date_from=${day(200)}&date_to=${day(170)}`;
  return [
    ['one of the 10 most frequent words', q(common)],
    ['a common word', q(usual)],
    ['a rare word', q(rare)],
    ['a word of one transcript', q(own)],
    ['two common words', q(usual, (n) => usual(n + 1))],
    ['three words: most frequent, common, rare', q(common, usual, rare)],
    ['a word that does not occur', () => 'q=unheardof'],
    ['a common word, one month', plus(q(usual), month)],
    ['a common word, by language', plus(q(usual), 'language=de')],
    ['a common word, by metadata', plus(q(usual), 'metadata.region=r3')],
    ['a common word, by duration', plus(q(usual), 'sort=duration')],
    ['a common word, offset 400', plus(q(usual), 'offset=400')],
    ['a common word, page of 100', plus(q(usual), 'limit=100')],
    ['a rare word, one month', plus(q(rare), month)],
  ];
}

interface Row {
  name: string;
  who: string;
  found: number;
  p50: number;
  p95: number;
  most: number;
}

async function measure(db: Db, vault: Vault, people: People): Promise<Row[]> {
  const settings = readSettings({ LONGHAND_HOME: home, PORT: '0', LONGHAND_RATE_LIMIT: '0', LOG_LEVEL: 'silent' });
  const app = await startApp({ db, vault, spool: await openSpool(settings), settings, log: openLog(settings, 'bench') });
  const ask = (key: string, query: string) => askList(app.url, key, query);
  try {
    const results: Row[] = [];
    for (const [who, key] of [
      ['owner', people.ownerKey],
      ['member', people.memberKey],
    ] as const)
      for (const [name, query] of queries()) {
        for (let round = 0; round < 5; round++) await ask(key, query(100_000 + round));
        const asked: Page[] = [];
        for (let round = 0; round < rounds; round++) asked.push(await ask(key, query(round)));
        const times = asked.map(({ ms }) => ms).sort((a, b) => a - b);
        const found = Math.round(asked.reduce((sum, { total }) => sum + total, 0) / rounds);
        results.push({ name, who, found, p50: times[rounds >> 1]!, p95: times[Math.floor(rounds * 0.95)]!, most: times.at(-1)! });
      }
    return results;
  } finally {
    await app.stop(1);
  }
}

function report(textBytes: number, sizes: Size[], results: Row[]): void {
  const indexBytes = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const machine = `${cpus().length} x ${cpus()[0]?.model}`;
  if (values.json) return void process.stdout.write(`${JSON.stringify({ rows, words, machine, textBytes, indexBytes, sizes, results })}\n`);
  const share = ((indexBytes / textBytes) * 100).toFixed(1);
  process.stdout.write(`${rows} transcripts of ${words} words in one workspace, pages of 20, ${machine}\n`);
  process.stdout.write(`index ${(indexBytes / 1e6).toFixed(0)} MB, ${share} % of ${(textBytes / 1e6).toFixed(0)} MB of text\n`);
  for (const { table, bytes, rows } of sizes)
    process.stdout.write(`${table.padEnd(20)} ${(bytes / 1e6).toFixed(2).padStart(10)} MB ${String(rows).padStart(9)} rows\n`);
  process.stdout.write(
    `${'who'.padEnd(7)} ${'question'.padEnd(32)} ${'found'.padStart(8)} ${'p50'.padStart(8)} ${'p95'.padStart(8)} ${'most'.padStart(8)} ms\n`,
  );
  for (const { name, who, found, p50, p95, most } of results) {
    const times = [p50, p95, most].map((ms) => ms.toFixed(1).padStart(8)).join(' ');
    process.stdout.write(`${who.padEnd(7)} ${name.padEnd(32)} ${String(found).padStart(8)} ${times}\n`);
  }
}
