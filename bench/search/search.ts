/**
 * Searches in a very large workspace, over HTTP with everything on this machine: latency, size of the index, and whether a dump of the
 * database shows a word: `node --import tsx bench/search/search.ts [--rows 1000000] [--words N] [--rounds 200] [--keep FOLDER] [--json] [--save]`.
 * Of the rows 99 % are completed and get a transcript. Targets: p95 under 150 ms, an index under 30 % of the text, no word. Transcripts have
 * 20 to 10,000 words, with `--words` all N. Filling takes 40 minutes for 1,000,000 rows: `--keep` keeps the database, and the next run only
 * searches it. PostgreSQL gets a third of the memory, and has read all tables before the first search. `--save` adds the figures to
 * bench/results/search.json and writes the table in docs/benchmarks.md.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../../api/app.ts';
import { readSettings } from '../../api/contract/settings.ts';
import { openLog } from '../../db/ops/log.ts';
import { startEmbedded } from '../../db/postgres/embedded.ts';
import { migrate } from '../../db/postgres/migrate.ts';
import { openDb } from '../../db/postgres/orm.ts';
import { openVault, type Vault } from '../../db/secrets/vault.ts';
import { openSpool } from '../../db/spool/open.ts';
import { makePeople, type People, writeCalls } from '../load/calls.ts';
import { numberOf, readOptions } from '../numbers.ts';
import { scratchFolder } from '../scratch.ts';
import { searchDump } from './dump.ts';
import { type Filled, fill } from './fill.ts';
import { check, measure, PROBES } from './questions.ts';
import { type Row, save, textOf } from './report.ts';
import { caseOf, vocabulary } from './said.ts';

const { rows, rounds, words, ...values } = readOptions(
  {
    rows: { type: 'string', default: '1000000' },
    words: { type: 'string' }, // per transcript
    rounds: { type: 'string', default: '200' },
    keep: { type: 'string' },
    json: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
  },
  ({ rows, rounds, words, ...others }) => ({
    ...others,
    rows: numberOf('rows', rows),
    rounds: numberOf('rounds', rounds),
    words: words === undefined ? undefined : numberOf('words', words),
  }),
);
const home = values.keep ?? scratchFolder('search');
const keptAt = join(home, 'filled.json');
const kept = existsSync(keptAt) ? readKept() : null;
const buffers = `shared_buffers=${Math.floor(totalmem() / 3 / 2 ** 20)}MB`;
const postgres = await startEmbedded(join(home, 'postgres'), { durable: false, settings: [buffers] });
const tell = (text: string) => process.stderr.write(`${text}\n`);
const open = (url: string) => openDb({ url, name: 'longhand-bench', patience: 'operator', pool: 1 });
const db = await openDb({ url: postgres.url, name: 'longhand-bench' });
const owner = await open(postgres.url);
const server = await open(superuser());
const masterKey = kept?.masterKey ?? randomBytes(32);
try {
  await migrate(db);
  const vault = await openVault(db, [masterKey]);
  const row = await measured(vault, kept ?? (await filledAnew(vault)));
  process.stdout.write(values.json ? `${JSON.stringify(row)}\n` : textOf(row));
  if (values.save) save(row);
} finally {
  for (const one of [server, owner, db]) await one.close();
  await postgres.stop();
  if (values.keep === undefined) rmSync(home, { recursive: true, force: true });
}

/** A filled database, and what is needed to search it. */
interface Kept {
  people: People;
  filled: Filled;
  fillSeconds: number;
}

function readKept(): Kept & { masterKey: Buffer } {
  const { masterKey, filled, ...rest } = JSON.parse(readFileSync(keptAt, 'utf8'));
  if (rest.rows !== rows) throw new Error(`${home} has ${rest.rows} rows: give --rows ${rest.rows}, or another folder`);
  if (words !== undefined && rest.words !== words)
    throw new Error(`${home} has no transcripts of ${words} words each: give another folder`);
  return { ...rest, masterKey: Buffer.from(masterKey, 'hex'), filled: { ...filled, holders: new Map(filled.holders) } };
}

async function filledAnew(vault: Vault): Promise<Kept> {
  const began = performance.now();
  const people = await makePeople(db, vault);
  await owner.direct('alter table transcriptions disable trigger user');
  await writeCalls(db, vault, people, rows, (done) => done % 100_000 || tell(`${done} rows`));
  await owner.direct('alter table transcriptions enable trigger user');
  const filled = await fill({ db, owner, vault, url: postgres.url, masterKey }, people, rows, {
    words,
    probes: PROBES,
    tell,
  });
  const made = { people, filled, fillSeconds: (performance.now() - began) / 1000 };
  await owner.direct('vacuum (analyze)');
  const text = { ...made, rows, words, masterKey: masterKey.toString('hex'), filled: { ...filled, holders: [...filled.holders] } };
  if (values.keep !== undefined) writeFileSync(keptAt, JSON.stringify(text));
  return made;
}

async function measured(vault: Vault, { people, filled, fillSeconds }: Kept): Promise<Row> {
  const [after] = loadavg() as [number];
  const [indexed, tables] = await sizes();
  tell(`index: ${tables.map(({ table, bytes }) => `${table} ${bytes}`).join(', ')} bytes of ${filled.textBytes}`);
  const found = await ask(vault, people, filled);
  tell('searching a dump');
  const said = [...vocabulary(), ...Array.from({ length: Math.min(rows, 1000) }, (_, i) => caseOf(i))];
  const dump = await searchDump(server, join(home, 'postgres', 'data', 'dump'), said, 'm1@example.com');
  return {
    ...{ indexed, tables, fillSeconds, rounds, dump, textBytes: filled.textBytes, ...found },
    words: { mean: filled.words / indexed, longest: filled.longest },
    machine: `${availableParallelism()} x ${cpus()[0]?.model}`,
    date: new Date().toISOString().slice(0, 10),
    load: [after, loadavg()[0]!],
  };
}

async function ask(vault: Vault, { ownerKey, memberKey }: People, filled: Filled): Promise<Pick<Row, 'checked' | 'questions'>> {
  tell('reading the tables into memory');
  await server.direct('create extension if not exists pg_prewarm');
  await server.direct(
    `select sum(pg_prewarm(oid)) from pg_class where relkind in ('r', 'i', 't') and relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema')`,
  );
  const settings = readSettings({ LONGHAND_HOME: home, PORT: '0', LONGHAND_RATE_LIMIT: '0', LOG_LEVEL: 'silent' });
  const app = await startApp({ db, vault, spool: await openSpool(settings), settings, log: openLog(settings, 'bench') });
  try {
    const checked = await check(app.url, ownerKey, filled);
    tell(`${checked} words have the right number of matches`);
    return { checked, questions: await measure(app.url, { owner: ownerKey, member: memberKey }, rows, rounds) };
  } finally {
    await app.stop(1);
  }
}

/** Number of indexed transcripts, and the tables of the index with their indexes and TOAST. */
async function sizes(): Promise<[indexed: number, tables: Row['tables']]> {
  const [counted] = await server.direct('select count(*)::int as indexed from search_documents');
  const tables = await server.direct(
    `select relname as table, pg_total_relation_size(oid)::float8 as bytes, greatest(reltuples, 0)::float8 as rows
     from pg_class where relkind = 'r' and relname like 'search\\_%' order by 2 desc`,
  );
  return [counted!.indexed as number, tables as unknown as Row['tables']];
}

/** Address of the database for its superuser, who may write dumps. */
function superuser(): string {
  const url = new URL(postgres.url);
  url.username = 'postgres';
  url.password = readFileSync(join(home, 'postgres', 'superuser-password'), 'utf8').trim();
  return url.href;
}
