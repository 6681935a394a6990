/**
 * Latency of a page of 20 out of a million transcriptions of one workspace, over HTTP, with everything on this machine: `node --import tsx
 * bench/load/list.ts [--rows 1000000] [--keep FOLDER] [--rounds 40] [--json]`. `--keep` reuses the rows of an earlier run in FOLDER. Target:
 * under 50 ms with a metadata filter on 2 cores. `first`: the first request, whose total is not cached yet.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../../api/app.ts';
import { readSettings } from '../../api/contract/settings.ts';
import { openLog } from '../../db/ops/log.ts';
import { startEmbedded } from '../../db/postgres/embedded.ts';
import { migrate } from '../../db/postgres/migrate.ts';
import { type Db, openDb } from '../../db/postgres/orm.ts';
import { openVault } from '../../db/secrets/vault.ts';
import { openSpool } from '../../db/spool/open.ts';
import { numberOf, readOptions } from '../numbers.ts';
import { scratchFolder } from '../scratch.ts';
import { call, makePeople, middleOf, type People, writeCalls } from './calls.ts';
import { askList } from './lists.ts';

interface Kept {
  rows: number;
  master: string;
  people: People;
}

const { rows, rounds, keep, json } = readOptions(
  {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '40' }, // requests per query
    keep: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
  (values) => ({ ...values, rows: numberOf('rows', values.rows), rounds: numberOf('rounds', values.rounds) }),
);
const home = keep ?? scratchFolder('list');
mkdirSync(home, { recursive: true });
const postgres = await startEmbedded(join(home, 'postgres'), { durable: false });
try {
  const db = await openDb({ url: postgres.url, name: 'longhand-bench' });
  try {
    await migrate(db);
    const kept = existsSync(join(home, 'kept.json')) ? (JSON.parse(readFileSync(join(home, 'kept.json'), 'utf8')) as Kept) : await fill(db);
    if (kept.rows !== rows) throw new Error(`Cannot measure ${rows} rows: ${home} holds ${kept.rows}; use another folder`);
    report(await measure(db, kept));
  } finally {
    await db.close();
  }
} finally {
  await postgres.stop();
  if (!keep) rmSync(home, { recursive: true, force: true });
}

async function fill(db: Db): Promise<Kept> {
  const master = randomBytes(32);
  const owner = await openDb({ url: postgres.url, pool: 1 });
  const asOwner = (sql: string) => owner.direct(sql);
  try {
    await asOwner('alter table transcriptions disable trigger user');
    const vault = await openVault(db, [master]);
    const people = await makePeople(db, vault);
    await writeCalls(db, vault, people, rows, (done) => done % 100_000 || process.stderr.write(`${done} rows\n`));
    await asOwner('alter table transcriptions enable trigger user');
    await asOwner('vacuum (analyze)');
    const kept = { rows, master: master.toString('base64'), people };
    writeFileSync(join(home, 'kept.json'), JSON.stringify(kept));
    return kept;
  } finally {
    await owner.close();
  }
}

/** Filters that match from 20 rows to all, alone and combined, in every order, for callers who see everything and for those who do not. */
function queries(): [name: string, query: string][] {
  const i = middleOf(rows);
  const { agent, region } = JSON.parse(call(i).metadata) as Record<string, string>;
  const metadata: [string, string][] = [
    ['20 per deal', `metadata.deal=${Math.floor(i / 20)}`],
    ['1,000 per agent', `metadata.agent=${agent}`],
    ['a tenth', `metadata.region=${region}`],
    ['two thirds', 'metadata.source=crm'],
    ['all', 'metadata.tags=call'],
  ];
  const month = `date_from=${day(200)}&date_to=${day(170)}`;
  const also: [string, string][] = [
    ['by created_at', 'sort=created_at'],
    ['by duration', 'sort=duration'],
    ['by -duration', 'sort=-duration'],
    ['failed', 'status=failed'],
    ['one month', month],
    ['language', 'language=de'],
    ['external id', `external_id=deal-${Math.floor(i / 4)}`],
    ['a second key', ''], // a different one each time
    ['offset 400', 'offset=400'],
  ];
  const crossed = metadata.flatMap(([name, query]): [string, string][] => [
    [name, query],
    ...also.map(([more, added]): [string, string] => [`${name}, ${more}`, `${query}&${added || secondTo(query)}`]),
  ]);
  const plain = also.filter(([name]) => name !== 'a second key');
  return [...crossed, ['everything', ''], ...plain.map(([name, query]): [string, string] => [`everything, ${name}`, query])];
}

function secondTo(query: string): string {
  return query.startsWith('metadata.source') ? 'metadata.tags=call' : 'metadata.source=pbx';
}

function day(daysAgo: number): string {
  return new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
}

interface Row {
  name: string;
  who: string;
  total: number;
  first: number;
  p50: number;
  p95: number;
}

async function measure(db: Db, { master, people }: Kept): Promise<Row[]> {
  const vault = await openVault(db, [Buffer.from(master, 'base64')]);
  const settings = readSettings({ LONGHAND_HOME: home, PORT: '0', LONGHAND_RATE_LIMIT: '0', LOG_LEVEL: 'silent' });
  const app = await startApp({ db, vault, spool: await openSpool(settings), settings, log: openLog(settings, 'bench') });
  const ask = (key: string, query: string) => askList(app.url, key, query);
  try {
    const found: Row[] = [];
    for (const [who, key] of [
      ['owner', people.ownerKey],
      ['member', people.memberKey],
    ] as const) {
      await ask(key, 'metadata.none=1'); // warm-up
      for (const [name, query] of queries()) {
        const first = await ask(key, query);
        const times: number[] = [];
        for (let round = 0; round < rounds; round++) times.push((await ask(key, query)).ms);
        times.sort((a, b) => a - b);
        found.push({ name, who, total: first.total, first: first.ms, p50: times[rounds >> 1]!, p95: times[Math.floor(rounds * 0.95)]! });
      }
    }
    return found;
  } finally {
    await app.stop(1);
  }
}

function report(results: Row[]): void {
  const machine = `${cpus().length} x ${cpus()[0]?.model}`;
  if (json) return void process.stdout.write(`${JSON.stringify({ rows, machine, results })}\n`);
  process.stdout.write(`${rows} transcriptions of one workspace, pages of 20, ${machine}; milliseconds\n`);
  process.stdout.write(
    `${'who'.padEnd(7)} ${'filter'.padEnd(32)} ${'found'.padStart(8)} ${'first'.padStart(8)} ${'p50'.padStart(7)} ${'p95'.padStart(7)}\n`,
  );
  for (const { name, who, total, first, p50, p95 } of results) {
    const times = `${first.toFixed(1).padStart(8)} ${p50.toFixed(1).padStart(7)} ${p95.toFixed(1).padStart(7)}`;
    process.stdout.write(`${who.padEnd(7)} ${name.padEnd(32)} ${String(total).padStart(8)} ${times}\n`);
  }
  const slow = results.filter(({ p95 }) => p95 >= 50);
  process.stdout.write(`${results.length - slow.length} of ${results.length} under 50 ms at p95\n`);
}
