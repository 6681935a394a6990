import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openDb } from '../../db/postgres/orm.ts';
import { loadMasterKeys } from '../../db/secrets/master-key.ts';
import { openVault } from '../../db/secrets/vault.ts';
import { connectRaw, head } from '../support/api/raw.ts';
import { FILE, uploadHeaders } from '../support/api/uploads.ts';
import { testDatabase } from '../support/databases/database.ts';
import { openWorld } from '../support/databases/world.ts';
import { program, type Running, start } from '../support/processes/processes.ts';
import { eventually } from '../support/processes/service.ts';

const home = mkdtempSync(join(tmpdir(), 'longhand-main-'));
t.teardown(() => rmSync(home, { recursive: true, force: true }));
const { db, url: database } = await testDatabase(t);
const world = openWorld(db, await openVault(db, await loadMasterKeys({ LONGHAND_HOME: home })));

function begin(t: Test, environment: Record<string, string> = {}): Running {
  const own = { DATABASE_URL: database, LONGHAND_HOME: home, PORT: '0', LOG_LEVEL: 'info', ...environment };
  return start(t, process.execPath, program('api/main.ts'), own);
}

t.test('api/main.ts serves requests, and on SIGTERM lets an upload finish while it accepts nothing new', async (t) => {
  const api = begin(t);
  const url = (await api.said(/^listening on (http:\/\/127\.0\.0\.1:\d+)$/m))[1]!;
  const { key } = await world.key(await world.member(await world.workspace(), { role: 'owner' }));
  const upload = await connectRaw(url);
  const idle = await connectRaw(url);
  upload.write(head('POST', '/v1/transcriptions', uploadHeaders(key, { 'Content-Disposition': 'attachment; filename="secret-name.mp3"' })));
  upload.write(FILE.subarray(0, 1000));
  const leases = () => db.acrossTenants((tx) => tx.rows('select id from upload_leases'));
  await eventually(async () => (await leases()).length > 0, 'the upload to begin');
  const stopped = api.stop();
  await eventually(() => api.output.stderr.includes('stopping'), 'the signal to be handled');
  idle.write(head('GET', '/v1/workspace', { Authorization: `Bearer ${key}` }));
  t.match(await idle.answer(), { status: 503, json: { code: 'service_unavailable' } });
  const refused = net.connect(Number(new URL(url).port), '127.0.0.1');
  t.match(await once(refused, 'error').catch((error) => [error]), [{ code: 'ECONNREFUSED' }]);
  upload.write(FILE.subarray(1000));
  t.equal((await upload.answer()).status, 201);
  t.equal(await stopped, 0);
  t.strictSame(await leases(), []);
  t.notMatch(api.output.stderr, new RegExp(`${key}|secret-name`), 'neither keys nor names are logged');
});

t.test('api/main.ts refuses to start on an older schema, and without a database', async (t) => {
  const admin = await openDb({ url: database, pool: 1 });
  await admin.direct('delete from longhand_migrations where id = (select max(id) from longhand_migrations)');
  await admin.close();
  const older = begin(t);
  t.strictSame(await older.exited, [1, null]);
  t.match(older.output.stderr, /^Cannot start the API: the database lacks the migrations .+ Run `longhand migrate`$/m);
  const without = begin(t, { DATABASE_URL: '' });
  t.strictSame(await without.exited, [1, null]);
  t.match(without.output.stderr, /DATABASE_URL is not set/);
});
