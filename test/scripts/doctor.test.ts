import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadMasterKeys } from '../../db/secrets/master-key.ts';
import { openVault } from '../../db/secrets/vault.ts';
import { testDatabase } from '../support/databases/database.ts';
import { longhand } from '../support/processes/processes.ts';

const { db, url } = await testDatabase(t);
const home = t.testdir({ spool: {}, other: {} });
const env = { DATABASE_URL: url, LONGHAND_HOME: home, LONGHAND_MODEL: 'none' }; // no models are opened

/** The check of this name. */
async function checked(name: string, more: Record<string, string> = {}): Promise<object> {
  const { stdout } = await longhand(['doctor', '--json'], { ...env, ...more });
  return JSON.parse(stdout).checks.find((check: { name: string }) => check.name === name);
}

t.test('doctor reports a master key that is not that of the database, or is missing, and creates none', async (t) => {
  t.match(await checked('master key'), { ok: true, found: 'it is created at the first start' });
  await openVault(db, await loadMasterKeys({ LONGHAND_HOME: home }));
  t.match(await checked('master key'), { ok: true, found: 'it is the one this database was written with' });
  const wrong = { ok: false, found: /the master key is not the one this database was written with/, remedy: /Restore it/ };
  t.match(await checked('master key', { LONGHAND_MASTER_KEY: Buffer.alloc(32).toString('base64') }), wrong);
  const restored = join(home, 'other');
  t.match(await checked('master key', { LONGHAND_HOME: restored }), wrong);
  t.notOk(existsSync(join(restored, 'master.key')));
});

t.test('doctor says why the configured model cannot be used, and does not blame the device', async (t) => {
  const cannotFind = { ok: false, found: /^Cannot find the model none: found whisper-base; get it with "longhand models pull"/ };
  t.match(await checked('models'), cannotFind);
  t.match(await checked('device'), { ...cannotFind, remedy: 'Follow what is said of the models first.' });
  const old = t.testdir({ models: { old: { 'model.json': '{"architecture":"whisper","interface":0}' } } });
  t.match(await checked('models', { LONGHAND_HOME: old, LONGHAND_MODEL: 'old' }), {
    ok: false,
    found: /^Cannot open the model in .*old: .*; remove it \("longhand models remove"\) and import or pull it again/,
  });
});

t.test('doctor reports a spool that is not that of the database', async (t) => {
  const mark = randomUUID();
  mkdirSync(join(home, 'spool', `.longhand-${mark}`));
  await db.direct(`insert into facts (name, value) values ('spool', convert_to('${mark}', 'utf8'))`);
  t.match(await checked('installation', { LONGHAND_MEDIA: join(home, 'spool') }), { ok: true });
  t.match(await checked('installation', { LONGHAND_MEDIA: join(home, 'other') }), {
    ok: false,
    found: /is not the spool of this installation/,
  });
});

t.test('doctor speaks of the bucket where the spool is one', async (t) => {
  const store = { S3_ENDPOINT: 'http://127.0.0.1:1', AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
  t.match(await checked('spool', { LONGHAND_MEDIA: 's3://bucket/prefix', ...store }), {
    ok: false,
    remedy: /^Check the bucket in LONGHAND_MEDIA/,
  });
});
