import t from 'tap';
import { operatorOf } from '../../../api/contract/actor.ts';
import { createKey } from '../../../db/access/keys.ts';
import { addOperator, removeOperator } from '../../../db/access/operators.ts';
import { signInLink } from '../../../db/access/sign-in-links.ts';
import { testApi } from '../../support/api/client.ts';
import { visit } from '../../support/console/console.ts';

const api = await testApi(t);
const { world, db } = api;
const workspace = await world.workspace({ name: 'Acme' });
const root = await world.member(workspace, { email: 'Root@example.com' });
const owner = await world.member(workspace, { role: 'owner' });
const ann = await visit(api, await world.key(owner));
const linkOf = (id: string) => db.workspace(workspace, (tx) => signInLink(tx, operatorOf(workspace), id));
await db.acrossTenants((tx) => addOperator(tx, ' root@EXAMPLE.com '));
await db.acrossTenants((tx) =>
  tx.rows(
    `insert into engines (id, host, pid, version, device, model, concurrency) values (gen_random_uuid(), 'host-a', 1, '1', 'cpu', 'm', 2)`,
  ),
);
const other = await world.member(await world.workspace({ name: 'Other' }), { role: 'owner' });
await world.transcription(other, { status: 'queued' });

t.test('the installation is visible to its operator and to no owner of a workspace', async (t) => {
  const { json } = await ann.ask('GET', '/activity');
  t.match(json, { queue: { queued: 0 } });
  t.notMatch(JSON.stringify(json), /host-a|Other/);
  t.equal((await ann.ask('GET', '/session')).json.operator, false);
  const operator = await visit(api, { link: await linkOf(root.id) });
  t.equal((await operator.ask('GET', '/session')).json.operator, true);
  t.equal((await operator.ask('GET', '/activity')).status, 403, "the workspace is its owners'");
  t.match((await operator.ask('GET', '/installation')).json, {
    engines: [{ host: 'host-a', version: '1', working: 0 }],
    workspaces: [{ name: 'Other', queued: 1 }],
    queue: { queued: 1 },
    rtfx: null,
  });
  t.equal((await ann.ask('GET', '/installation')).status, 403);
});

t.test('the operator role cannot be gained by what an owner can do', async (t) => {
  const trap = await visit(api, await world.key(other));
  const { id } = (await trap.ask('POST', '/members', { email: 'root@example.com', role: 'owner' })).json;
  const link = async (visitor: typeof trap, member: string) =>
    (await visitor.ask('POST', `/members/${member}/link`)).json.url.split('link=')[1];
  const { url } = (await trap.ask('POST', '/invitations', { email: 'ROOT2@example.com' })).json;
  await db.acrossTenants((tx) => addOperator(tx, 'root2@example.com'));
  const invited = await api.call('', 'POST', '/v1/app/session', { body: { invitation: url.split('invitation=')[1] } });
  t.match(invited, { status: 201, json: { operator: false } }, 'an invitation does not prove an address');
  for (const secret of [await link(trap, id), await link(ann, root.id)]) {
    const impostor = await visit(api, { link: secret });
    t.equal((await impostor.ask('GET', '/session')).json.operator, false, 'a link from an owner');
    t.equal((await impostor.ask('GET', '/installation')).status, 403);
    const key = (await impostor.ask('POST', '/keys', { scopes: ['read', 'uploads:write', 'transcriptions:delete', 'reports:write'] })).json;
    t.equal((await (await visit(api, key)).ask('GET', '/session')).json.operator, false, 'nor a key created in that session');
  }
});

t.test('registered clients are listed and removed by operators, with all their grants', async (t) => {
  const { json: client } = await api.call('', 'POST', '/oauth/register', {
    body: { client_name: 'Helper', redirect_uris: ['https://helper.example/'] },
  });
  const token = await world.token(other, ['read']);
  await db.acrossTenants((tx) => tx.rows('update oauth_tokens set client_id = ? where id = ?', [client.client_id, token.id]));
  const path = `/clients/${client.client_id}`;
  for (const [method, at] of [
    ['GET', '/clients'],
    ['DELETE', path],
  ] as const)
    t.equal((await ann.ask(method, at)).status, 403);
  const operator = await visit(api, { link: await linkOf(root.id) });
  t.match((await operator.ask('GET', '/clients')).json.items, [
    { id: client.client_id, name: 'Helper', redirect_uris: ['https://helper.example/'] },
  ]);
  t.equal((await operator.ask('DELETE', path)).status, 204);
  t.equal((await operator.ask('DELETE', path)).status, 404);
  t.equal((await api.call(token.key, 'GET', '/v1/workspace')).status, 401);
});

t.test('a key of the operator opens the installation if it has every right, and until the role is removed', async (t) => {
  const make = (scopes: ['read'] | ['read', 'uploads:write', 'transcriptions:delete', 'reports:write']) =>
    db.workspace(workspace, (tx) => createKey(tx, operatorOf(workspace), { memberId: root.id, scopes }));
  const reader = await visit(api, await make(['read']));
  t.equal((await reader.ask('GET', '/session')).json.operator, false);
  const full = await visit(api, await make(['read', 'uploads:write', 'transcriptions:delete', 'reports:write']));
  t.equal((await full.ask('GET', '/installation')).status, 200);
  const own = (await full.ask('POST', '/keys', { scopes: ['read', 'uploads:write', 'transcriptions:delete', 'reports:write'] })).json;
  t.equal((await (await visit(api, own)).ask('GET', '/installation')).status, 200, 'so does one that the operator creates');
  await db.acrossTenants((tx) => removeOperator(tx, 'root@example.com'));
  t.equal((await full.ask('GET', '/installation')).status, 403, 'at once');
  await t.rejects(
    db.acrossTenants((tx) => removeOperator(tx, 'root@example.com')),
    /is not an operator/,
  );
});
