import { randomBytes } from 'node:crypto';
import t from 'tap';
import { makeSignInLink, spendSignInLink } from '../../../db/access/sign-in-links.ts';
import { openVault } from '../../../db/secrets/vault.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openWorld } from '../../support/databases/world.ts';

const { db } = await testDatabase(t);
const world = openWorld(db, await openVault(db, [randomBytes(32)]));
const owner = await world.member(await world.workspace(), { role: 'owner' });
const { id: keyId } = await world.key(owner);
const who = { workspaceId: owner.workspaceId, memberId: owner.id };
const make = (of: object = {}) => db.acrossTenants((tx) => makeSignInLink(tx, { ...who, ...of }));
const spend = (link: string) => db.acrossTenants((tx) => spendSignInLink(tx, link));

t.test('spendSignInLink() accepts a link once, also from two people at the same time', async (t) => {
  for (let i = 0; i < 5; i++) {
    const link = await make();
    const both = await Promise.all([spend(link), spend(link)]);
    t.match(
      both.filter((entrant) => entrant !== null),
      [who],
    );
    t.equal(both.filter((entrant) => entrant === null).length, 1);
  }
});

t.test('spendSignInLink() refuses a link whose key was revoked, or whose member has left', async (t) => {
  const [first, second, third] = [await make({ keyId }), await make({ keyId }), await make()];
  t.match(await spend(first), { ...who, keyId });
  await db.query('*', 'update api_keys set revoked_at = now() where id = ?::uuid', [keyId]);
  t.equal(await spend(second), null);
  await db.query('*', `update members set status = 'removed' where id = ?::uuid`, [owner.id]);
  t.equal(await spend(third), null);
});
