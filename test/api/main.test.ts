import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openDb } from '../../db/postgres/orm.ts';
import { loadMasterKeys } from '../../db/secrets/master-key.ts';
import { openVault } from '../../db/secrets/vault.ts';
import { testDatabase } from '../support/database.ts';
import { program } from '../support/processes.ts';
import { connectRaw, head } from '../support/raw.ts';
import { FILE, uploadHeaders } from '../support/uploads.ts';
import { openWorld } from '../support/world.ts';

const home = mkdtempSync(join(tmpdir(), 'longhand-main-'));
t.teardown(() => rmSync(home, { recursive: true, force: true }));
const { db, url: database } = await testDatabase(t);
const world = openWorld(db, await openVault(db, await loadMasterKeys({ LONGHAND_HOME: home })));

function start(environment: Record<string, string> = {}): { child: ChildProcess; output: () => string; errors: () => string } {
  const child = spawn(process.execPath, program('api/main.ts'), {
    env: { PATH: process.env.PATH, DATABASE_URL: database, LONGHAND_HOME: home, PORT: '0', LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout!.on('data', (chunk) => (out += chunk));
  child.stderr!.on('data', (chunk) => (err += chunk));
  t.teardown(() => child.kill('SIGKILL'));
  return { child, output: () => out, errors: () => err };
}

t.test('api/main.ts serves requests, and on SIGTERM lets an upload finish while it accepts nothing new', async (t) => {
  const { child, output, errors } = start();
  while (!output().includes('\n') && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 50));
  const url = /^listening on (http:\/\/127\.0\.0\.1:\d+)$/m.exec(output())?.[1];
  if (!url) throw new Error(`no address was printed: ${output()}${errors()}`);
  const { key } = await world.key(await world.member(await world.workspace(), { role: 'owner' }));
  const upload = await connectRaw(url);
  const idle = await connectRaw(url);
  upload.write(head('POST', '/v1/transcriptions', uploadHeaders(key, { 'Content-Disposition': 'attachment; filename="secret-name.mp3"' })));
  upload.write(FILE.subarray(0, 1000));
  while (!(await db.acrossTenants((tx) => tx.rows('select id from upload_leases'))).length)
    await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill('SIGTERM');
  while (!errors().includes('stopping')) await new Promise((resolve) => setTimeout(resolve, 20));
  idle.write(head('GET', '/v1/workspace', { Authorization: `Bearer ${key}` }));
  t.match(await idle.answer(), { status: 503, json: { code: 'service_unavailable' } });
  const refused = net.connect(Number(new URL(url).port), '127.0.0.1');
  t.match(await once(refused, 'error').catch((error) => [error]), [{ code: 'ECONNREFUSED' }]);
  upload.write(FILE.subarray(1000));
  t.equal((await upload.answer()).status, 201);
  if (child.exitCode === null) await once(child, 'exit');
  t.equal(child.exitCode, 0);
  t.strictSame(await db.acrossTenants((tx) => tx.rows('select id from upload_leases')), []);
  t.notMatch(errors(), new RegExp(`${key}|secret-name`), 'neither keys nor names are logged');
});

t.test('api/main.ts refuses to start on an older schema, and without a database', async (t) => {
  const admin = await openDb({ url: database, pool: 1 });
  await admin.direct('delete from longhand_migrations where id = (select max(id) from longhand_migrations)');
  await admin.close();
  const older = start();
  t.equal((await once(older.child, 'exit'))[0], 1);
  t.match(older.errors(), /^Cannot start the API: the database lacks the migrations .+ Run `longhand migrate`$/m);
  const without = start({ DATABASE_URL: '' });
  t.equal((await once(without.child, 'exit'))[0], 1);
  t.match(without.errors(), /DATABASE_URL is not set/);
});
