import t from 'tap';
import { openDb } from '../../../db/postgres/orm.ts';
import { deleteWorkspace } from '../../../db/tenants/workspaces.ts';
import { testDatabase } from '../../support/database.ts';
import { waiting } from '../../support/gate.ts';
import { eventually } from '../../support/service.ts';
import { openBench } from '../../support/work.ts';

const { db, url } = await testDatabase(t);
const bench = await openBench(db);

t.test('deleteWorkspace() goes on after a deadlock with an engine that takes a report of the workspace', async (t) => {
  const admin = await openDb({ url, pool: 1, name: 'longhand-cli' });
  t.teardown(() => admin.close());
  for (let tries = 1; ; tries++) {
    const id = await bench.workspace();
    await bench.transcription(id, { reports: ['tasks'] });
    let deleting: ReturnType<typeof deleteWorkspace> | undefined;
    const ended = await db
      .acrossTenants(async (tx) => {
        await tx.rows('select 1 from reports where workspace_id = ?::uuid for update', [id]); // in the order of claimReport()
        deleting = deleteWorkspace(admin, id);
        deleting.catch(() => {}); // looked at below
        await eventually(async () => (await waiting(db, 'longhand-cli')) > 0, 'the deletion waiting for the report');
        await tx.rows('update workspaces set reports_served_at = clock_timestamp() where id = ?::uuid', [id]);
        return 'deletion';
      })
      .catch((error) => {
        if (error.code !== '40P01') throw error;
        return 'engine'; // PostgreSQL ends whichever side looks for the deadlock first once it is there
      });
    t.match(await deleting, { id });
    for (const table of ['workspaces', 'reports', 'data_keys']) t.strictSame(await db.query('*', `select 1 from ${table}`), [], table);
    if (ended === 'deletion') return;
    if (tries === 10) return t.fail('the deletion was never the side that ended');
  }
});
