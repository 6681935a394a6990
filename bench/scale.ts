/**
 * Cost of the database against the number of transcriptions, in 1,000 workspaces on one PostgreSQL, with the real code of API and engines:
 *   node --import tsx bench/scale.ts [--rows 100000,1000000] [--json]     (10,000,000 rows take about 15 GB on disk)
 * For each size: CPU of the database under an idle fleet of 50 API processes and 200 engines; claims with 1,000 and with 100,000 queued;
 * lists over HTTP; and reads while a workspace with 10 % of the rows, at most 100,000, is deleted.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startApp } from '../api/app.ts';
import { readSettings } from '../api/contract/settings.ts';
import { openLog } from '../db/ops/log.ts';
import { startEmbedded } from '../db/postgres/embedded.ts';
import { migrate } from '../db/postgres/migrate.ts';
import { openDb } from '../db/postgres/orm.ts';
import { openVault } from '../db/secrets/vault.ts';
import { openSpool } from '../db/spool/open.ts';
import { type Latency, listLatency, readsDuringDeletion } from './scale/api.ts';
import { type Claims, claimsOf } from './scale/claims.ts';
import { addRows, makeWorkspaces, queueRows } from './scale/fill.ts';
import { idleCpu } from './scale/fleet.ts';

interface Row {
  transcriptions: number;
  /** Share of one core. */
  idle: number;
  claims: Claims[];
  lists: Record<string, Latency>;
  deletion: { rows: number; seconds: number; reads: Latency };
}

const QUEUED = [1_000, 100_000];

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '100000,1000000' }, json: { type: 'boolean', default: false } },
});
const sizes = values.rows.split(',').map(Number);
const home = mkdtempSync(join(tmpdir(), 'longhand-scale-'));
const postgres = await startEmbedded(join(home, 'postgres'), { durable: false, connections: 1200 });
try {
  const results = await measure();
  if (values.json)
    process.stdout.write(
      `${JSON.stringify({ machine: `${availableParallelism()} x ${cpus()[0]?.model}`, load: loadavg()[0], results })}\n`,
    );
  else report(results);
} finally {
  await postgres.stop();
  rmSync(home, { recursive: true, force: true });
}

async function measure(): Promise<Row[]> {
  const settings = readSettings({ LONGHAND_HOME: home, PORT: '0', LONGHAND_RATE_LIMIT: '0', LONGHAND_METRICS: 'off', LOG_LEVEL: 'silent' });
  const log = openLog(settings, 'bench');
  const [db, owner] = [await openDb({ url: postgres.url, name: 'longhand-bench' }), await openDb({ url: postgres.url, pool: 1 })];
  await migrate(db);
  const vault = await openVault(db, [randomBytes(32)]);
  const spool = await openSpool(settings);
  const fleet = { db, vault, spool, settings, log };
  const results: Row[] = [];
  try {
    const workspaces = await makeWorkspaces(db, vault);
    let rows = 0;
    for (const size of sizes) {
      await addRows({ db, owner, vault }, workspaces, size - rows);
      rows = size;
      say(`${size} transcriptions: an idle fleet`);
      const idle = await idleCpu(fleet, postgres);
      const claims: Claims[] = [];
      for (const queued of QUEUED) {
        await queueRows({ db, owner, vault }, workspaces, queued);
        say(`${size} transcriptions: claims with ${queued} queued`);
        claims.push(await claimsOf(db, queued));
        await db.query('*', `delete from transcriptions where status in ('queued', 'processing')`);
        await owner.direct('vacuum analyze transcriptions');
      }
      say(`${size} transcriptions: lists, and a deletion`);
      const app = await startApp(fleet);
      try {
        const lists = await listLatency(app.url, workspaces);
        const deletion = await readsDuringDeletion(app.url, fleet, workspaces);
        rows -= deletion.rows;
        results.push({ transcriptions: size, idle, claims, lists, deletion });
      } finally {
        await app.stop(1);
      }
    }
    return results;
  } finally {
    await db.close();
    await owner.close();
  }
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

function report(results: readonly Row[]): void {
  const ms = ({ p50, p95, p99 }: Latency) => `p50 ${p50.toFixed(1)}, p95 ${p95.toFixed(1)}, p99 ${p99.toFixed(1)} ms`;
  for (const { transcriptions, idle, claims, lists, deletion } of results) {
    const row = (name: string, value: string) => process.stdout.write(`  ${name.padEnd(44)} ${value}\n`);
    process.stdout.write(`${transcriptions} transcriptions in 1,000 workspaces\n`);
    row('idle fleet: 50 API processes, 200 engines', `${(100 * idle).toFixed(1)} % of one core in the database`);
    for (const { queued, perSecond, latency } of claims)
      row(`claims with ${queued} queued`, `${perSecond.toFixed(0)} per second; ${ms(latency)}`);
    for (const [name, latency] of Object.entries(lists)) row(`list, ${name}`, ms(latency));
    row(`reads while ${deletion.rows} are deleted (${deletion.seconds.toFixed(0)} s)`, ms(deletion.reads));
  }
}
