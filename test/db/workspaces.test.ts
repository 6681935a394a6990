import t from 'tap';
import { deleteWorkspace } from '../../db/admin/workspaces.ts';
import { openDb } from '../../db/orm.ts';
import { testDatabase } from '../support/database.ts';
import { waiting } from '../support/gate.ts';
import { eventually } from '../support/service.ts';
import { openBench } from '../support/work.ts';

const { db, url } = await testDatabase(t);
const bench = await openBench(db);

t.test('deleteWorkspace() goes on after a deadlock with an engine that takes a report of the workspace', async (t) => {
  const admin = await openDb({ url, pool: 1, name: 'longhand-cli' });
  t.teardown(() => admin.close());
  const id = await bench.workspace();
  await bench.transcription(id, { reports: ['tasks'] });
  const deleted = await db.system(async (tx) => {
    await tx.rows('select 1 from reports where workspace_id = ?::uuid for update', [id]); // in the order of claimReport()
    const deleting = deleteWorkspace(admin, id);
    await eventually(async () => (await waiting(db, 'longhand-cli')) > 0, 'the deletion waiting for the report');
    await tx.rows('update workspaces set reports_served_at = clock_timestamp() where id = ?::uuid', [id]);
    return { deleting };
  });
  t.match(await deleted.deleting, { id });
  for (const table of ['workspaces', 'reports', 'data_keys']) t.strictSame(await db.read('*', `select 1 from ${table}`), [], table);
});
