import { randomUUID } from 'node:crypto';
import t from 'tap';
import { claimNext } from '../../../db/jobs/claim.ts';
import { complete } from '../../../db/jobs/complete.ts';
import { claimReport } from '../../../db/reports/work.ts';
import { deletedWorkspaces, PURGED, purgeNext } from '../../../db/tenants/purge.ts';
import { deleteWorkspace } from '../../../db/tenants/workspaces.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { finished, openBench } from '../../support/engine/work.ts';

const { db } = await testDatabase(t);
const bench = await openBench(db);
const remove = (id: string) => db.acrossTenants((tx) => deleteWorkspace(tx, id));
const engineId = randomUUID();

/** Number of rows of a workspace, per table that has any. */
async function rowsOf(id: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of await tables()) {
    const [row] = await db.query<{ count: number }>('*', `select count(*)::int as count from ${table} where workspace_id = ?::uuid`, [id]);
    if (row!.count) counts[table] = row!.count;
  }
  return counts;
}

async function tables(): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    '*',
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' order by 1`,
  );
  return rows.map(({ name }) => name);
}

t.test(
  'PURGED lists every table with rows of workspaces except transcriptions (deleted first), postings (deleted with blocks) and the audit log (kept)',
  async (t) => {
    const rest = (await tables()).filter((table) => !['transcriptions', 'audit_log', 'search_postings'].includes(table));
    t.strictSame([...PURGED].sort(), rest);
  },
);

t.test('deleteWorkspace() makes everything unreadable immediately, and no work of it is started or written afterwards', async (t) => {
  const [id, other] = [await bench.workspace(), await bench.workspace()];
  await bench.transcription(id, { reports: ['summary'] });
  const claim = await claimNext(db, { engineId, shortOnly: false });
  await complete(db, (claim as { lease: Parameters<typeof complete>[1] }).lease, finished(60)); // now its report can be claimed
  await bench.transcription(id);
  await bench.transcription(other);
  t.strictSame(await remove(id), { id });
  t.strictSame(await db.query('*', 'select 1 from data_keys where workspace_id = ?', [id]), [], 'without the key nothing can be decrypted');
  const next = await claimNext(db, { engineId, shortOnly: false });
  t.equal((next as { lease: { workspaceId: string } }).lease.workspaceId, other);
  t.equal(await claimNext(db, { engineId, shortOnly: false }), null);
  t.equal(await claimReport(db, engineId), null);
  await t.rejects(remove(id), /There is no workspace/);
  t.strictSame(await deletedWorkspaces(db), [id]);
  t.ok(await bench.jobs('purge'));
});

t.test('purgeNext() deletes the rest in batches; a failed batch undoes no earlier one, and the next call continues', async (t) => {
  await db.acrossTenants((tx) => tx.rows('delete from workspaces'));
  const [id, other] = [await bench.workspace(), await bench.workspace()];
  for (const workspace of [id, other]) await bench.transcription(workspace, { reports: ['summary'] });
  for (let i = 0; i < 120; i++) await bench.transcription(id);
  const before = await rowsOf(other);
  await remove(id);
  const counts: number[] = [];
  const count = async () => (await rowsOf(id)).transcriptions ?? 0;
  for (let previous = await count(), steps = 0; ; steps++) {
    if (steps === 1) {
      const broken = {
        ...db,
        acrossTenants: (work: Parameters<typeof db.acrossTenants>[0]) =>
          db.acrossTenants(async (tx) => {
            await work(tx);
            throw new Error('killed');
          }),
      };
      await t.rejects(purgeNext(broken as typeof db, id), /killed/);
      t.equal(await count(), previous, 'a step is atomic');
    }
    const { done } = await purgeNext(db, id);
    const left = await count();
    counts.push(previous - left);
    previous = left;
    if (done) break;
  }
  t.strictSame(counts.filter(Boolean), [50, 50, 21]);
  t.strictSame(await rowsOf(id), { audit_log: 1 });
  t.strictSame(await db.query('*', 'select 1 from workspaces where id = ?', [id]), []);
  t.strictSame(await rowsOf(other), before);
  t.strictSame(await purgeNext(db, id), { media: [], done: true });
});
