import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { operatorOf } from '../../api/contract/actor.ts';
import { listAudit } from '../../db/access/audit.ts';
import { createKey, revokeKey } from '../../db/access/keys.ts';
import { addMinutes, charge } from '../../db/minutes/balance.ts';
import { notifyLowBalances } from '../../db/minutes/low-balance.ts';
import { usage } from '../../db/minutes/usage.ts';
import { openVault } from '../../db/secrets/vault.ts';
import { createProject } from '../../db/tenants/projects.ts';
import { changeWorkspace, createWorkspace } from '../../db/tenants/workspaces.ts';
import { remove } from '../../db/transcripts/mutate.ts';
import { listNotifications } from '../../db/webhooks/notifications.ts';
import { tokenOf } from '../support/api/actors.ts';
import { testDatabase } from '../support/databases/database.ts';
import { openWorld } from '../support/databases/world.ts';

const { db } = await testDatabase(t);
const vault = await openVault(db, [randomBytes(32)]);
const world = openWorld(db, vault);

t.test('usage() sums charges by day, key and project, includes deleted recordings and excludes other workspaces', async (t) => {
  const workspace = await world.workspace();
  const person = await world.member(workspace, { role: 'owner' });
  const { id: key } = await world.key(person);
  const project = await world.project(workspace, 'Sales');
  const operator = operatorOf(workspace);
  for (const [minutes, given] of [
    [1.5, { keyId: key, projectId: project }],
    [2, { keyId: key }],
    [4, {}],
  ] as const) {
    const id = await world.transcription(person, given);
    await db.workspace(workspace, (tx) => charge(tx, workspace, id, minutes * 60));
    if (minutes === 1.5) await db.workspace(workspace, (tx) => remove(tx, tokenOf(person), id));
  }
  await db.acrossTenants((tx) => tx.rows(`update ledger set created_at = '2026-03-01T23:59:59Z' where minutes = -4`));
  await db.workspace(workspace, (tx) => addMinutes(tx, operator, 100));
  const foreign = await world.member(await world.workspace(), { role: 'owner' });
  const other = await world.transcription(foreign);
  await db.workspace(foreign.workspaceId, (tx) => charge(tx, foreign.workspaceId, other, 600));
  const sum = (options: Parameters<typeof usage>[2]) => db.workspace(workspace, (tx) => usage(tx, operator, options));
  const today = new Date().toISOString().slice(0, 10);
  t.strictSame(await sum({ by: 'day' }), [
    { day: '2026-03-01', recordings: 1, minutes: 4 },
    { day: today, recordings: 2, minutes: 3.5 },
  ]);
  t.strictSame(await sum({ by: 'key' }), [
    { key: null, recordings: 1, minutes: 4 },
    { key, recordings: 2, minutes: 3.5 },
  ]);
  t.strictSame(await sum({ by: 'project', from: today }), [
    { project: null, recordings: 1, minutes: 2 },
    { project, recordings: 1, minutes: 1.5 },
  ]);
  t.strictSame(await sum({ by: 'day', from: '2026-03-01', to: '2026-03-01' }), [{ day: '2026-03-01', recordings: 1, minutes: 4 }]);
  await t.rejects(
    db.workspace(workspace, (tx) => usage(tx, tokenOf(person, 'user'), { by: 'day' })),
    { code: 'forbidden' },
  );
});

t.test('notifyLowBalances() notifies owners once, and again after a recovery, but not if there have never been any minutes', async (t) => {
  const { id: workspace } = await db.acrossTenants((tx) => createWorkspace(tx, vault, { name: 'Low', minutes: 100 }));
  await db.acrossTenants((tx) => createWorkspace(tx, vault, { name: 'Empty' }));
  const owner = await world.member(workspace, { role: 'owner', email: 'o@example.com' });
  await world.member(workspace);
  const left = await world.member(workspace, { role: 'owner', email: 'left@example.com' });
  await db.query('*', `update members set status = 'removed' where id = ?::uuid`, [left.id]);
  const mine = async () => (await notifyLowBalances(db)).filter(({ workspaceName }) => ['Low', 'Empty'].includes(workspaceName));
  t.strictSame(await mine(), []);
  const operator = operatorOf(workspace);
  await db.workspace(workspace, (tx) => addMinutes(tx, operator, -60));
  t.strictSame(await mine(), [{ workspaceName: 'Low', minutes: 40, owners: ['o@example.com'] }]);
  t.strictSame(await mine(), [], 'once');
  const { items } = await db.workspace(workspace, (tx) => listNotifications(tx, vault, tokenOf(owner)));
  t.match(items, [{ kind: 'low_balance', transcription_id: null, title: /40/, read: false }]);
  await db.workspace(workspace, (tx) => addMinutes(tx, operator, 60));
  t.strictSame(await mine(), []);
  await db.workspace(workspace, (tx) => addMinutes(tx, operator, -60));
  t.equal((await mine()).length, 1);
  await db.workspace(workspace, (tx) => changeWorkspace(tx, operator, { lowBalanceMinutes: 0 }));
  await db.workspace(workspace, (tx) => addMinutes(tx, operator, -40));
  t.strictSame(await mine(), [], '0 is never');
});

t.test('audit() records actor, action and target in the same transaction, without any content', async (t) => {
  const workspace = await world.workspace();
  const person = await world.member(workspace, { role: 'owner', email: 'secret@example.com' });
  const operator = operatorOf(workspace);
  const key = await db.workspace(workspace, (tx) =>
    createKey(tx, operator, { memberId: person.id, scopes: ['read'], name: 'Secret name' }),
  );
  const actor = tokenOf(person);
  const project = await db.workspace(workspace, (tx) => createProject(tx, actor, 'Secret project'));
  await db.workspace(workspace, (tx) => revokeKey(tx, actor, key.id));
  await t.rejects(
    db.workspace(workspace, async (tx) => {
      await createProject(tx, actor, 'Undone');
      throw new Error('undone');
    }),
    /undone/,
  );
  const log = await db.acrossTenants((tx) => listAudit(tx, workspace, 10));
  t.match(log, [
    { action: 'key.revoke', actor_kind: 'token', actor_id: actor.tokenId, member_id: person.id, target_id: key.id },
    { action: 'project.create', actor_kind: 'token', target_id: project.id },
    { action: 'key.create', actor_kind: 'operator', actor_id: null, member_id: null, target_id: key.id },
  ]);
  t.equal(log.length, 3, 'rolled back actions are not recorded');
  t.notMatch(JSON.stringify(log), /secret|lh_/i);
  await db.acrossTenants((tx) => tx.rows('delete from workspaces where id = ?', [workspace]));
  t.equal((await db.acrossTenants((tx) => listAudit(tx, workspace, 10))).length, 3, 'the audit log outlives the workspace');
  t.strictSame(await db.workspace(randomUUID(), (tx) => listAudit(tx, workspace, 10)), [], 'and is not visible to another workspace');
});
