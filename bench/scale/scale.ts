/**
 * Cost of the database against the number of transcriptions, in 1,000 workspaces on one PostgreSQL, with the real code of API and engines:
 *   node --import tsx bench/scale/scale.ts [--rows 100000,1000000] [--parts idle,claims,lists,deletion] [--pgbouncer] [--json] [--docs]
 * 10,000,000 rows take about 15 GB on disk. For each size: CPU of the database under an idle fleet of 50 API processes and 200 engines, in
 * two consecutive minutes; claims with 1,000 and with 100,000 queued; lists over HTTP; and reads while a workspace with 10 % of the rows,
 * at most 100,000, is deleted. `--pgbouncer` also runs the fleet through the installed PgBouncer with at most 200 connections to the server.
 * `--docs` adds the sizes to bench/results/scale.json and writes the table in docs/benchmarks.md. The server has autovacuum as by default, but no fsync.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../../api/app.ts';
import { readSettings } from '../../api/contract/settings.ts';
import { openLog } from '../../db/ops/log.ts';
import { startEmbedded } from '../../db/postgres/embedded.ts';
import { migrate } from '../../db/postgres/migrate.ts';
import { openDb } from '../../db/postgres/orm.ts';
import { openVault } from '../../db/secrets/vault.ts';
import { openSpool } from '../../db/spool/open.ts';
import { numberOf, readOptions } from '../numbers.ts';
import { scratchFolder } from '../scratch.ts';
import { listLatency, readsDuringDeletion } from './api.ts';
import { throughBouncer } from './bounced.ts';
import { claimsOf } from './claims.ts';
import { addRows, makeWorkspaces, queueRows } from './fill.ts';
import { idleCpu } from './fleet.ts';
import { type Row, textOf, writeDocs } from './report.ts';

const QUEUED = [1_000, 100_000];
const PARTS = ['idle', 'claims', 'lists', 'deletion'];
const SERVERS = 200; // connections of PgBouncer
const BOUNCED = 10_000; // queued for its fleet
const SERVER = ['autovacuum=on', 'maintenance_work_mem=1GB', 'max_wal_size=8GB']; // the others, such as shared_buffers, are the defaults

const { sizes, parts, ...values } = readOptions(
  {
    rows: { type: 'string', default: '100000,1000000' },
    parts: { type: 'string', default: PARTS.join() },
    pgbouncer: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
  },
  ({ rows, parts, ...others }) => {
    const unknown = parts.split(',').filter((part) => part && !PARTS.includes(part));
    if (unknown.length) throw new Error(`Cannot use --parts ${unknown.join()}: the parts are ${PARTS.join()}`);
    return { ...others, sizes: rows.split(',').map((size) => numberOf('rows', size)), parts: parts.split(',') };
  },
);
const home = scratchFolder('scale');
const postgres = await startEmbedded(join(home, 'postgres'), { durable: false, connections: 1200, settings: SERVER });
try {
  const results = await measure();
  if (values.json) process.stdout.write(`${JSON.stringify(results)}\n`);
} finally {
  await postgres.stop();
  rmSync(home, { recursive: true, force: true });
}

async function measure(): Promise<Row[]> {
  const settings = readSettings({ LONGHAND_HOME: home, PORT: '0', LONGHAND_RATE_LIMIT: '0', LONGHAND_METRICS: 'off', LOG_LEVEL: 'silent' });
  const log = openLog(settings, 'bench');
  const [db, owner] = [
    await openDb({ url: postgres.url, name: 'longhand-bench' }),
    await openDb({ url: postgres.url, name: 'longhand-bench', pool: 2, patience: 'operator' }),
  ];
  await migrate(db);
  const vault = await openVault(db, [randomBytes(32)]);
  const spool = await openSpool(settings);
  const fleet = { db, vault, spool, settings, log };
  const access = { db, owner, vault };
  const results: Row[] = [];
  try {
    const workspaces = await makeWorkspaces(db, vault);
    const unqueue = async () => {
      await owner.query('*', `delete from transcriptions where status in ('queued', 'processing')`);
      await owner.query('*', 'delete from spool_orphans'); // which an idle fleet would remove from the spool
      await owner.direct('vacuum analyze transcriptions');
    };
    let rows = 0;
    for (const size of sizes) {
      say(`${size} transcriptions: filling`);
      const began = performance.now();
      await addRows(access, workspaces, size - rows);
      rows = size;
      const row: Row = { transcriptions: size, fillSeconds: (performance.now() - began) / 1000, ...circumstances() };
      results.push(row);
      if (parts.includes('idle')) {
        say(`${size} transcriptions: an idle fleet`);
        row.idle = await idleCpu(fleet, postgres);
      }
      if (parts.includes('claims'))
        for (const queued of QUEUED) {
          await queueRows(access, workspaces, queued);
          say(`${size} transcriptions: claims with ${queued} queued`);
          row.claims = [...(row.claims ?? []), await claimsOf(db, queued)];
          await unqueue();
        }
      if (values.pgbouncer) {
        await queueRows(access, workspaces, BOUNCED);
        say(`${size} transcriptions: a fleet behind PgBouncer`);
        row.bounced = await throughBouncer(fleet, workspaces, postgres, { limit: SERVERS, home });
        await unqueue();
      }
      const app = await startApp(fleet);
      try {
        if (parts.includes('lists')) {
          say(`${size} transcriptions: lists`);
          row.lists = await listLatency(app.url, workspaces);
        }
        if (parts.includes('deletion')) {
          say(`${size} transcriptions: a deletion`);
          row.deletion = await readsDuringDeletion(app.url, fleet, workspaces);
          rows -= row.deletion.rows;
        }
      } finally {
        await app.stop(1);
      }
      Object.assign(row, circumstances());
      if (!values.json) process.stdout.write(textOf([row]));
      if (values.docs) writeDocs([row]);
    }
    return results;
  } finally {
    await db.close();
    await owner.close();
  }
}

function circumstances(): Pick<Row, 'machine' | 'date' | 'load'> {
  return { machine: `${availableParallelism()} x ${cpus()[0]?.model}`, date: new Date().toISOString().slice(0, 10), load: loadavg()[0]! };
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
