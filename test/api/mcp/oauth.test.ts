import { createHash, randomBytes } from 'node:crypto';
import { type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import t from 'tap';
import { forgetClients } from '../../../db/access/oauth-clients.ts';
import { openSession } from '../../../db/access/sessions.ts';
import { testApi } from '../../support/client.ts';
import { visit } from '../../support/console.ts';

const BACK = 'http://127.0.0.1:9/callback';
const api = await testApi(t);
const workspace = await api.world.workspace({ name: 'Acme' });
const person = await api.world.member(workspace, { role: 'owner', name: 'Ann' });
await api.world.transcription(person, { externalId: 'deal-7' });

/** The browser of a person who is signed in: follows the authorization address to the console and answers there. */
async function answerConsent(address: URL, approve: boolean): Promise<URL> {
  const page = await fetch(address, { redirect: 'manual' });
  t.equal(page.status, 302, 'the authorization endpoint leads to the consent page');
  const location = new URL(page.headers.get('location')!, api.url);
  t.equal(location.hash, '#/authorize');
  const cookie = await api.db.acrossTenants((tx) => openSession(tx, { workspaceId: workspace, memberId: person.id }));
  const signedIn = { cookie: `longhand_session=${cookie}` };
  const { json: session } = await api.call('', 'GET', '/v1/app/session', { headers: signedIn });
  const shown = await api.call('', 'GET', `/v1/app/consent${location.search}`, { headers: signedIn });
  t.match(shown, { status: 200, json: { client: { name: 'Test assistant' }, workspace: 'Acme' } });
  const answer = await api.call('', 'POST', '/v1/app/consent', {
    headers: { ...signedIn, 'x-csrf-token': session.csrf },
    body: { query: location.search, approve },
  });
  t.equal(answer.status, 200);
  return new URL(answer.json.redirect);
}

/** Keeps what the official client learns on its way through the flow. */
class Memory implements OAuthClientProvider {
  redirected: URL | null = null;
  client: OAuthClientInformationFull | undefined;
  held: OAuthTokens | undefined;
  verifier = '';
  get redirectUrl() {
    return BACK;
  }
  get clientMetadata() {
    return { client_name: 'Test assistant', redirect_uris: [BACK], token_endpoint_auth_method: 'none' };
  }
  clientInformation() {
    return this.client;
  }
  saveClientInformation(client: OAuthClientInformationFull) {
    this.client = client;
  }
  tokens() {
    return this.held;
  }
  saveTokens(tokens: OAuthTokens) {
    this.held = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.redirected = url;
  }
  saveCodeVerifier(verifier: string) {
    this.verifier = verifier;
  }
  codeVerifier() {
    return this.verifier;
  }
}

const newClient = () => new Client({ name: 'test', version: '1' });

t.test('the official client signs in by OAuth, uses its tokens, refreshes them, and is refused once they are revoked', async (t) => {
  const memory = new Memory();
  const endpoint = new URL('/mcp', api.url);
  const first = new StreamableHTTPClientTransport(endpoint, { authProvider: memory });
  const refused = await newClient()
    .connect(first)
    .catch((error: unknown) => error);
  t.ok(refused instanceof UnauthorizedError);
  const back = await answerConsent(memory.redirected!, true);
  t.equal(back.searchParams.get('iss'), api.url);
  await first.finishAuth(back.searchParams.get('code')!);
  const client = newClient();
  await client.connect(new StreamableHTTPClientTransport(endpoint, { authProvider: memory }));
  const found = await client.callTool({ name: 'search_by_external_id', arguments: { external_id: 'deal-7' } });
  t.match(found.structuredContent, { total: 1 });
  await client.close();

  const { json: on } = await api.call(memory.held!.access_token, 'GET', '/v1/workspace');
  t.strictSame(on.key.scopes, ['read', 'reports:write'], 'the token works on /v1 within its scopes');
  t.match(await api.call(memory.held!.access_token, 'GET', '/v1/workspace/members'), { status: 403, json: { code: 'api_key_required' } });

  const refreshed = await form('/oauth/token', {
    grant_type: 'refresh_token',
    client_id: memory.client!.client_id,
    refresh_token: memory.held!.refresh_token!,
  });
  t.equal(refreshed.status, 200);
  const asked = { grant_type: 'refresh_token', client_id: memory.client!.client_id };
  const next = await form('/oauth/token', { ...asked, refresh_token: refreshed.json.refresh_token });
  t.equal(next.status, 200);
  const again = await form('/oauth/token', { ...asked, refresh_token: memory.held!.refresh_token! });
  t.match(again, { status: 400, json: { error: 'invalid_grant' } }, 'a refresh token works once');
  t.equal((await api.call(next.json.access_token, 'GET', '/v1/workspace')).status, 401, 'and its reuse revokes the whole family');
});

t.test('a refusal goes back to the client as access_denied', async (t) => {
  const { address } = await request();
  const back = await answerConsent(address, false);
  t.equal(back.searchParams.get('error'), 'access_denied');
  t.equal(back.searchParams.get('state'), 'xyz');
});

t.test('a code works once, for its client, address and verifier only; presented twice it revokes its tokens', async (t) => {
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

t.test('revoked and expired tokens and tokens of another audience are refused with where to sign in', async (t) => {
  const bad = await api.world.token(person);
  await api.db.acrossTenants((tx) => tx.rows(`update oauth_tokens set resource = 'https://elsewhere.example/mcp' where id = ?`, [bad.id]));
  const old = await api.world.token(person);
  await api.db.acrossTenants((tx) => tx.rows(`update oauth_tokens set expires_at = now() - interval '1 second' where id = ?`, [old.id]));
  const revoked = await api.world.token(person);
  await api.db.acrossTenants((tx) => tx.rows('update oauth_tokens set revoked_at = now() where id = ?', [revoked.id]));
  for (const { key } of [bad, old, revoked, { key: '' }]) {
    const answer = await api.call(key, 'POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } });
    t.equal(answer.status, 401);
    t.equal(answer.headers['www-authenticate'], `Bearer resource_metadata="${api.url}/.well-known/oauth-protected-resource"`);
  }
  const { json } = await api.call('', 'GET', '/.well-known/oauth-protected-resource/mcp');
  t.match(json, { resource: `${api.url}/mcp`, authorization_servers: [api.url] });
});

t.test('requests for consent without PKCE, for another audience, scope or address are refused', async (t) => {
  const { address } = await request();
  const changed = async (change: Record<string, string>) => {
    const url = new URL(address);
    for (const [name, value] of Object.entries(change)) url.searchParams.set(name, value);
    const answer = await fetch(url, { redirect: 'manual' });
    return answer.status === 302 ? new URL(answer.headers.get('location')!, api.url).searchParams.get('error') : answer.status;
  };
  t.equal(await changed({ code_challenge_method: 'plain' }), 'invalid_request');
  t.equal(await changed({ resource: 'https://elsewhere.example/mcp' }), 'invalid_target');
  t.equal(await changed({ scope: 'members:write' }), 'invalid_scope');
  t.equal(await changed({ response_type: 'token' }), 'unsupported_response_type');
  t.equal(await changed({ redirect_uri: 'https://evil.example/' }), 400, 'nobody is sent to an address that is not registered');
  for (const end of ['#x', '#', '?x']) t.equal(await changed({ redirect_uri: `${BACK}${end}` }), 400, `nor to ${end} of one that is`);
  t.equal(await changed({ redirect_uri: BACK.replace(':9', ':8') }), null, 'but to any port of the own machine');
  for (const uri of ['javascript:alert(1)', 'http://evil.example/', 'data:text/html,x', 'https://a.example/#x']) {
    t.match(
      await api.call('', 'POST', '/oauth/register', { body: { redirect_uris: [uri] } }),
      { status: 400, json: { error: 'invalid_redirect_uri' } },
      uri,
    );
  }
});

/** A registered client and the address it sends a person to. */
async function request() {
  const { json } = await api.call('', 'POST', '/oauth/register', { body: { client_name: 'Test assistant', redirect_uris: [BACK] } });
  const verifier = randomBytes(32).toString('base64url');
  const address = new URL('/oauth/authorize', api.url);
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const query = {
    response_type: 'code',
    client_id: json.client_id,
    redirect_uri: BACK,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 'xyz',
    resource: `${api.url}/mcp`,
  };
  address.search = new URLSearchParams(query).toString();
  return { address, clientId: json.client_id as string, verifier };
}

function form(path: string, fields: Record<string, string>) {
  const body = new URLSearchParams(fields).toString();
  return api.call('', 'POST', path, { body, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
}

t.test('a flood of bad codes from one address is refused before any query, while known keys pass', async (t) => {
  const token = { method: 'POST', path: '/oauth/token', body: 'grant_type=refresh_token&client_id=x&refresh_token=y' };
  const revoke = { method: 'POST', path: '/oauth/revoke', body: 'client_id=x&token=y' };
  const authorize = { method: 'GET', path: '/oauth/authorize?client_id=x', body: undefined };
  const register = { method: 'POST', path: '/oauth/register', body: JSON.stringify({ redirect_uris: [BACK] }) };
  for (const [flood, status] of [[token, 400] as const]) {
    const flooded = await testApi(t);
    const { key } = await flooded.world.key(await flooded.world.member(await flooded.world.workspace()));
    t.equal((await flooded.call(key, 'GET', '/v1/workspace')).status, 200);
    const send = async ({ method, path, body }: typeof authorize | typeof token) =>
      (await fetch(flooded.url + path, { method, redirect: 'manual', ...(body && { body }) })).status;
    const seen = new Set<number>();
    for (let tries = 0; tries < 2_000 && !seen.has(429); tries += 50)
      for (const answer of await Promise.all(Array.from({ length: 50 }, () => send(flood)))) seen.add(answer);
    t.strictSame(seen, new Set([status, 429]), flood.path);
    for (const other of [register, token, revoke, authorize]) {
      let answer = 0; // time allows one more now and then; a flood of its own this is not
      for (let tries = 0; tries < 20 && answer !== 429; tries++) answer = await send(other);
      t.equal(answer, 429, other.path);
    }
    t.equal((await flooded.call(key, 'GET', '/v1/workspace')).status, 200);
  }
});

t.test('a flood of registrations from one address is refused after sixty, and keeps nobody else out', async (t) => {
  const flooded = await testApi(t);
  const register = () => flooded.call('', 'POST', '/oauth/register', { body: { redirect_uris: [BACK] } });
  const answers = await Promise.all(Array.from({ length: 100 }, register));
  t.ok(answers.filter(({ status }) => status === 201).length <= 62);
  const refused = answers.find(({ status }) => status === 429)!;
  t.ok(Number(refused.headers['retry-after']) >= 1);
  t.equal((await flooded.call('', 'POST', '/oauth/token', { body: 'grant_type=refresh_token&client_id=x&refresh_token=y' })).status, 400);
});

/** A client with tokens that a person agreed to. */
async function connected(scope = 'read reports:write') {
  const { address, clientId, verifier } = await request();
  address.searchParams.set('scope', scope);
  const code = (await answerConsent(address, true)).searchParams.get('code')!;
  const good = { grant_type: 'authorization_code', client_id: clientId, redirect_uri: BACK, code, code_verifier: verifier };
  const redeem = (change: Record<string, string> = {}) => form('/oauth/token', { ...good, ...change });
  const renew = (refresh_token: string, change: Record<string, string> = {}) =>
    form('/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token, ...change });
  return { clientId, code, redeem, renew };
}

const sql = (text: string, parameters: unknown[] = []) => api.db.acrossTenants((tx) => tx.rows(text, parameters));
const refused = { status: 400, json: { error: 'invalid_grant' } };
const good = async (token: string) => (await api.call(token, 'GET', '/v1/workspace')).status === 200;
const pause = () => new Promise((resolve) => setTimeout(resolve, 1_100)); // what was looked up a moment ago is not looked up again

t.test('redeemCode() takes a code of this client only, before it is over, of an active member', async (t) => {
  const { clientId: stranger } = await request();
  const one = await connected();
  t.match(await one.redeem({ client_id: stranger }), refused, 'another client');
  t.equal((await one.redeem()).status, 200);
  const late = await connected();
  await sql('update oauth_codes set expires_at = now() where used_at is null');
  t.match(await late.redeem(), refused, 'over');
  const left = await connected();
  await sql(`update members set status = 'removed' where id = ?`, [person.id]);
  t.match(await left.redeem(), refused, 'of a member who left');
  await sql(`update members set status = 'active' where id = ?`, [person.id]);
});

t.test('refresh() takes a token of this client only, before it is over, of an active member, and widens nothing', async (t) => {
  const { clientId: stranger } = await request();
  const { redeem, renew } = await connected('read');
  const { json: tokens } = await redeem();
  t.match(await renew(tokens.refresh_token, { client_id: stranger }), refused, 'another client');
  for (const scope of ['transcriptions:delete', 'read transcriptions:delete'])
    t.match(await renew(tokens.refresh_token, { scope }), refused, `${scope} was not agreed to`);
  t.match(await renew(tokens.access_token), refused, 'an access token is no refresh token');
  await sql(`update members set status = 'removed' where id = ?`, [person.id]);
  t.match(await renew(tokens.refresh_token), refused, 'of a member who left');
  await sql(`update members set status = 'active' where id = ?`, [person.id]);
  const { json: next } = await renew(tokens.refresh_token);
  t.equal(next.scope, 'read');
  await sql(`update oauth_tokens set expires_at = now() where kind = 'refresh'`);
  t.match(await renew(next.refresh_token), refused, 'over');
});

t.test('refresh() answers once more while the answer may be lost, and ends the tokens of the first answer', async (t) => {
  const { redeem, renew } = await connected();
  const { json: tokens } = await redeem();
  const { json: lost } = await renew(tokens.refresh_token);
  const repeated = await renew(tokens.refresh_token);
  t.equal(repeated.status, 200);
  t.match(await renew(lost.refresh_token), refused, 'of two answers one counts');
  const other = await connected();
  const { json: old } = await other.redeem();
  const { json: middle } = await other.renew(old.refresh_token);
  const { json: last } = await other.renew(old.refresh_token);
  t.notOk(await good(middle.access_token));
  t.ok(await good(last.access_token));
  await sql(`update oauth_tokens set replaced_at = now() - interval '61 seconds' where replaced_at is not null`);
  t.match(await other.renew(old.refresh_token), refused, 'a minute later it was stolen');
  await pause();
  t.notOk(await good(last.access_token));
});

t.test('POST /oauth/revoke ends every token of the consent, for its own client only', async (t) => {
  const { clientId: stranger } = await request();
  for (const kind of ['access_token', 'refresh_token']) {
    const { clientId, redeem, renew } = await connected();
    const { json: tokens } = await redeem();
    t.equal((await form('/oauth/revoke', { token: tokens[kind], client_id: stranger })).status, 200, 'nobody is told');
    t.ok(await good(tokens.access_token), `${kind}: another client ends nothing`);
    t.equal((await form('/oauth/revoke', { token: tokens[kind], client_id: clientId })).status, 200);
    await pause();
    t.notOk(await good(tokens.access_token), kind);
    t.match(await renew(tokens.refresh_token), refused, kind);
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
  t.notOk(await good(tokens.access_token));
  t.match(await form('/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: tokens.refresh_token }), refused);
  t.match(await redeem(unspent), refused);
});

t.test('tokens are asked for this service only', async (t) => {
  const { redeem, renew } = await connected();
  const elsewhere = { resource: 'https://elsewhere.example/mcp' };
  t.match(await redeem(elsewhere), { status: 400, json: { error: 'invalid_target' } });
  const { json: tokens } = await redeem({ resource: `${api.url}/mcp` });
  t.match(await renew(tokens.refresh_token, elsewhere), { status: 400, json: { error: 'invalid_target' } });
});

t.test('nobody is led away from here by a bad request of a client that anybody may have registered', async (t) => {
  const site = 'https://evil.example/back';
  const { json } = await api.call('', 'POST', '/oauth/register', { body: { redirect_uris: [site, 'http://localhost/back'] } });
  const open = (redirect_uri: string) =>
    fetch(`${api.url}/oauth/authorize?${new URLSearchParams({ client_id: json.client_id, redirect_uri, response_type: 'code' })}`, {
      redirect: 'manual',
    });
  const answer = await open(site);
  t.equal(answer.status, 400);
  t.equal(answer.headers.get('location'), null);
  t.match(await answer.text(), /PKCE/, 'the person is told what is wrong');
  const own = await open('http://localhost:52001/back');
  t.equal(own.status, 302, 'localhost has any port, and a program of the own machine hears of the error');
  t.match(own.headers.get('location'), /^http:\/\/localhost:52001\/back\?error=invalid_request/);
});

t.test('browsers may ask the endpoints for assistants from other sites', async (t) => {
  for (const [path, method] of [
    ['/oauth/register', 'POST'],
    ['/oauth/token', 'POST'],
    ['/.well-known/oauth-authorization-server', 'GET'],
  ] as const) {
    const answer = await api.call('', 'OPTIONS', path, {
      headers: { origin: 'https://site.example', 'access-control-request-method': method },
    });
    t.match(answer, { status: 204, headers: { 'access-control-allow-origin': '*', 'access-control-allow-methods': method } }, path);
  }
  const metadata = await api.call('', 'GET', '/.well-known/oauth-authorization-server');
  t.equal(metadata.headers['access-control-allow-origin'], '*');
});

t.test('forgetClients() forgets those that nobody let in, and keeps the others', async (t) => {
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
