import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { Db } from '../../../db/postgres/orm.ts';
import { openVault, type Vault } from '../../../db/secrets/vault.ts';
import { testDatabase } from '../../support/databases/database.ts';

const master = randomBytes(32);

async function workspace(db: Db, vault: Vault): Promise<string> {
  return db.acrossTenants(async (tx) => {
    const row = await tx.row<{ id: string }>(`insert into workspaces (name) values ('w') returning id`);
    await vault.createKey(tx, row!.id);
    return row!.id;
  });
}

t.test('open() decrypts what seal() encrypted, also after a restart', async (t) => {
  const { db } = await testDatabase(t);
  const vault = await openVault(db, [master]);
  const id = await workspace(db, vault);
  const sealed = await vault.seal(id, 'transcriptions|1|title', 'Grüße');
  t.notOk(sealed.includes('Gr'), 'the sealed value does not contain the text');
  t.notOk((await vault.seal(id, 'transcriptions|1|title', 'Grüße')).equals(sealed), 'the same text is encrypted differently each time');
  t.equal((await vault.open(id, 'transcriptions|1|title', sealed)).toString(), 'Grüße');
  const again = await openVault(db, [master]);
  t.equal(await again.text(id, 'transcriptions|1|title', sealed), 'Grüße');
  t.equal(await again.text(id, 'transcriptions|1|title', null), null);
  const bytes = randomBytes(1000);
  t.strictSame(await vault.open(id, 'x', await vault.seal(id, 'x', new Uint8Array(bytes))), bytes);
  t.equal((await vault.open(id, 'x', await vault.seal(id, 'x', ''))).length, 0);
});

t.test('open() loads the keys of a workspace once for concurrent calls', async (t) => {
  const { db } = await testDatabase(t);
  const vault = await openVault(db, [master]);
  const id = await workspace(db, vault);
  const sealed = await vault.seal(id, 'x', 'y');
  let loads = 0;
  const counting: Db = {
    ...db,
    reserved: (work) => {
      loads++;
      return db.reserved(work);
    },
  };
  const cold = await openVault(counting, [master]);
  await Promise.all(Array.from({ length: 60 }, () => cold.open(id, 'x', sealed)));
  t.equal(loads, 1);
});

t.test('open() rejects a value that was changed, truncated, or moved to another row, column or workspace', async (t) => {
  const { db } = await testDatabase(t);
  const vault = await openVault(db, [master]);
  const [mine, other] = [await workspace(db, vault), await workspace(db, vault)];
  const sealed = await vault.seal(mine, 'reports|1|text', 'secret words');
  for (let at = 0; at < sealed.length; at++) {
    const damaged = Buffer.from(sealed);
    damaged[at]! ^= 1;
    await t.rejects(vault.open(mine, 'reports|1|text', damaged), /Cannot decrypt/, `byte ${at}`);
  }
  await t.rejects(vault.open(mine, 'reports|1|text', sealed.subarray(0, -1)));
  await t.rejects(vault.open(mine, 'reports|2|text', sealed));
  await t.rejects(vault.open(mine, 'reports|1|title', sealed));
  await t.rejects(vault.open(other, 'reports|1|text', sealed));
  await t.rejects(vault.open(mine, 'reports|1|text', Buffer.alloc(0)));
});

t.test('openVault() rejects a wrong master key, every time', async (t) => {
  const { db } = await testDatabase(t);
  await openVault(db, [master]);
  await t.rejects(openVault(db, [randomBytes(32)]), /master key is not the one/);
  await t.rejects(openVault(db, []), /no master key/);
  await openVault(db, [master]);
});

t.test('rotate() wraps every data key under the newest master key, so that the old one is no longer needed', async (t) => {
  const { db } = await testDatabase(t);
  const old = await openVault(db, [master]);
  const ids = [await workspace(db, old), await workspace(db, old)];
  const sealed = await Promise.all(ids.map((id) => old.seal(id, 'a|b|c', id)));
  const newest = randomBytes(32);
  const both = await openVault(db, [newest, master]);
  const third = await workspace(db, both);
  const early = await both.seal(third, 'a|b|c', 'third');
  t.equal(await both.rotate(), 2);
  t.equal(await both.rotate(), 0);
  const fresh = await openVault(db, [newest]);
  t.strictSame(await Promise.all(ids.map((id, i) => fresh.text(id, 'a|b|c', sealed[i]!))), ids);
  t.equal(await fresh.text(third, 'a|b|c', early), 'third');
  await t.rejects(openVault(db, [master]), /master key is not the one/);
});

t.test('open() decrypts nothing of a deleted workspace, because its key is deleted too', async (t) => {
  const { db } = await testDatabase(t);
  const vault = await openVault(db, [master]);
  const id = await workspace(db, vault);
  const sealed = await vault.seal(id, 'a|b|c', 'gone');
  await db.acrossTenants((tx) => tx.rows('delete from workspaces where id = ?', [id]));
  const other = await openVault(db, [master]);
  await t.rejects(other.open(id, 'a|b|c', sealed), /no data key/);
  t.equal((await db.query('*', 'select 1 from data_keys')).length, 0);
});
