import t from 'tap';
import { forgetClients } from '../../../db/access/oauth-clients.ts';
import { refresh } from '../../../db/access/tokens.ts';
import { visit } from '../../support/console/console.ts';
import { BACK, oauthBench, REFUSED } from '../../support/servers/oauth.ts';

const { api, person, answerConsent, request, form, connected, sql, works } = await oauthBench(t);
const pause = () => new Promise((resolve) => setTimeout(resolve, 1_100)); // lookups are cached for a second

t.test('a code works once, for its client, address and verifier only; its second use revokes its tokens', async (t) => {
  const { address, clientId, verifier } = await request();
  const code = (await answerConsent(address, true)).searchParams.get('code')!;
  const good = { grant_type: 'authorization_code', client_id: clientId, redirect_uri: BACK, code, code_verifier: verifier };
  t.equal((await form('/oauth/token', { ...good, code_verifier: `${verifier}x` })).status, 400);
  t.equal((await form('/oauth/token', { ...good, redirect_uri: 'http://127.0.0.1:9/other' })).status, 400);
  const tokens = await form('/oauth/token', good);
  t.equal(tokens.status, 200);
  t.equal((await api.call(tokens.json.access_token, 'GET', '/v1/workspace')).status, 200);
  t.equal((await form('/oauth/token', good)).status, 400);
  await new Promise((resolve) => setTimeout(resolve, 1_100)); // a revoked credential stops working within a second
  t.equal((await api.call(tokens.json.access_token, 'GET', '/v1/workspace')).status, 401);
});

t.test('redeemCode() accepts a code only from its own client, before it expires, for an active member', async (t) => {
  const { clientId: stranger } = await request();
  const one = await connected();
  t.match(await one.redeem({ client_id: stranger }), REFUSED, 'another client');
  t.equal((await one.redeem()).status, 200);
  const late = await connected();
  await sql('update oauth_codes set expires_at = now() where used_at is null');
  t.match(await late.redeem(), REFUSED, 'over');
  const left = await connected();
  await sql(`update members set status = 'removed' where id = ?`, [person.id]);
  t.match(await left.redeem(), REFUSED, 'of a member who left');
  await sql(`update members set status = 'active' where id = ?`, [person.id]);
});

t.test('refresh() accepts a token only from its client, before it expires, for an active member, and never adds scopes', async (t) => {
  const { clientId: stranger } = await request();
  const { redeem, renew } = await connected('read');
  const { json: tokens } = await redeem();
  t.match(await renew(tokens.refresh_token, { client_id: stranger }), REFUSED, 'another client');
  for (const scope of ['transcriptions:delete', 'read transcriptions:delete'])
    t.match(await renew(tokens.refresh_token, { scope }), REFUSED, `${scope} was not agreed to`);
  t.match(await renew(tokens.access_token), REFUSED, 'an access token is not a refresh token');
  await sql(`update members set status = 'removed' where id = ?`, [person.id]);
  t.match(await renew(tokens.refresh_token), REFUSED, 'of a member who left');
  await sql(`update members set status = 'active' where id = ?`, [person.id]);
  const { json: next } = await renew(tokens.refresh_token);
  t.equal(next.scope, 'read');
  await sql(`update oauth_tokens set expires_at = now() where kind = 'refresh'`);
  t.match(await renew(next.refresh_token), REFUSED, 'over');
});

t.test('refresh() answers once more while the first answer may have been lost, and revokes the tokens of the first', async (t) => {
  const { redeem, renew } = await connected();
  const { json: tokens } = await redeem();
  const { json: lost } = await renew(tokens.refresh_token);
  const repeated = await renew(tokens.refresh_token);
  t.equal(repeated.status, 200);
  t.match(await renew(lost.refresh_token), REFUSED, 'only one of two answers is valid');
  const other = await connected();
  const { json: old } = await other.redeem();
  const { json: middle } = await other.renew(old.refresh_token);
  const { json: last } = await other.renew(old.refresh_token);
  t.notOk(await works(middle.access_token));
  t.ok(await works(last.access_token));
  await sql(`update oauth_tokens set replaced_at = now() - interval '61 seconds' where replaced_at is not null`);
  t.match(await other.renew(old.refresh_token), REFUSED, 'a minute later it counts as stolen');
  await pause();
  t.notOk(await works(last.access_token));
});

t.test('POST /oauth/revoke revokes every token of the consent, for its own client only', async (t) => {
  const { clientId: stranger } = await request();
  for (const kind of ['access_token', 'refresh_token']) {
    const { clientId, redeem, renew } = await connected();
    const { json: tokens } = await redeem();
    t.equal((await form('/oauth/revoke', { token: tokens[kind], client_id: stranger })).status, 200, 'the answer reveals nothing');
    t.ok(await works(tokens.access_token), `${kind}: another client ends nothing`);
    t.equal((await form('/oauth/revoke', { token: tokens[kind], client_id: clientId })).status, 200);
    await pause();
    t.notOk(await works(tokens.access_token), kind);
    t.match(await renew(tokens.refresh_token), REFUSED, kind);
  }
});

t.test('a grant ends with the key in whose session it was given', async (t) => {
  const { id, key } = await api.world.key(person);
  const session = await visit(api, { key });
  const { address, clientId, verifier } = await request();
  const page = await fetch(address, { redirect: 'manual' });
  const query = new URL(page.headers.get('location')!, api.url).search;
  const consented = async () =>
    new URL((await session.ask('POST', '/consent', { query, approve: true })).json.redirect).searchParams.get('code')!;
  const redeem = (code: string) =>
    form('/oauth/token', { grant_type: 'authorization_code', client_id: clientId, redirect_uri: BACK, code, code_verifier: verifier });
  const { json: tokens } = await redeem(await consented());
  const unspent = await consented();
  await sql('update api_keys set revoked_at = now() where id = ?', [id]);
  t.notOk(await works(tokens.access_token));
  t.match(await form('/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: tokens.refresh_token }), REFUSED);
  t.match(await redeem(unspent), REFUSED);
});

t.test('forgetClients() removes clients that were never authorized, and keeps the others', async (t) => {
  const used = await connected();
  await used.redeem();
  const { clientId: fresh } = await request();
  const { clientId: stale } = await request();
  await sql(
    `update oauth_clients set created_at = now() - interval '2 days', last_used_at = now() - interval '2 days' where id in (?, ?)`,
    [stale, used.clientId],
  );
  await forgetClients(api.db);
  const left = (await sql('select id from oauth_clients')).map(({ id }) => id);
  t.ok(left.includes(used.clientId) && left.includes(fresh) && !left.includes(stale));
});

t.test('a grant that is revoked while its refresh token is exchanged ends with its new tokens', async (t) => {
  const session = await visit(api, { key: (await api.world.key(person)).key });
  for (const way of ['by its client', 'by its owner']) {
    const { clientId, redeem } = await connected();
    const { json: tokens } = await redeem();
    let revoking: Promise<{ status: number }>;
    const fresh = await api.db.acrossTenants(async (tx) => {
      const made = await refresh(tx, tokens.refresh_token, clientId, null);
      const [{ family }] = (await tx.rows('select family from oauth_tokens where client_id = ? limit 1', [clientId])) as [
        { family: string },
      ];
      revoking =
        way === 'by its client'
          ? form('/oauth/revoke', { token: tokens.refresh_token, client_id: clientId })
          : session.ask('DELETE', `/grants/${family}`);
      await pause(); // it waits for this transaction
      return made!;
    });
    t.match((await revoking!).status, /^20[04]$/, way);
    t.match(
      await form('/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: fresh.refreshToken }),
      REFUSED,
      way,
    );
    t.strictSame(await sql('select 1 from oauth_tokens where client_id = ? and revoked_at is null', [clientId]), [], way);
  }
});
