import * as newest from '@modelcontextprotocol/client';
import { type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import t from 'tap';
import { BACK, oauthBench } from '../../support/servers/oauth.ts';

const { api, person, answerConsent, request, form, connected } = await oauthBench(t);

/** Stores what the official client receives during the flow. */
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
  t.equal((await api.call(next.json.access_token, 'GET', '/v1/workspace')).status, 401, 'its reuse revokes the whole family');
});

t.test('the client of revision 2026-07-28 signs in by OAuth', async (t) => {
  const memory = new Memory();
  const endpoint = new URL('/mcp', api.url);
  const client = () => new newest.Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const first = new newest.StreamableHTTPClientTransport(endpoint, { authProvider: memory });
  await t.rejects(client().connect(first), newest.UnauthorizedError);
  const back = await answerConsent(memory.redirected!, true);
  await first.finishAuth(back.searchParams);
  const second = client();
  await second.connect(new newest.StreamableHTTPClientTransport(endpoint, { authProvider: memory }));
  t.equal(second.getNegotiatedProtocolVersion(), '2026-07-28');
  t.match((await second.callTool({ name: 'search_by_external_id', arguments: { external_id: 'deal-7' } })).structuredContent, { total: 1 });
  await second.close();
});

t.test('a refused consent returns to the client as access_denied', async (t) => {
  const { address } = await request();
  const back = await answerConsent(address, false);
  t.equal(back.searchParams.get('error'), 'access_denied');
  t.equal(back.searchParams.get('state'), 'xyz');
});

t.test('revoked and expired tokens and tokens of another audience are refused with the address of the sign-in', async (t) => {
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

t.test('consent requests without PKCE or for another audience, scope or address are refused', async (t) => {
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
  t.equal(await changed({ redirect_uri: 'https://evil.example/' }), 400, 'an unregistered address is not redirected to');
  for (const end of ['#x', '#', '?x']) t.equal(await changed({ redirect_uri: `${BACK}${end}` }), 400, `nor to ${end} of one that is`);
  t.equal(await changed({ redirect_uri: BACK.replace(':9', ':8') }), null, 'any port of localhost is accepted');
  for (const uri of ['javascript:alert(1)', 'http://evil.example/', 'data:text/html,x', 'https://a.example/#x']) {
    t.match(
      await api.call('', 'POST', '/oauth/register', { body: { redirect_uris: [uri] } }),
      { status: 400, json: { error: 'invalid_redirect_uri' } },
      uri,
    );
  }
});

t.test('tokens are issued only for this service', async (t) => {
  const { redeem, renew } = await connected();
  const elsewhere = { resource: 'https://elsewhere.example/mcp' };
  t.match(await redeem(elsewhere), { status: 400, json: { error: 'invalid_target' } });
  const { json: tokens } = await redeem({ resource: `${api.url}/mcp` });
  t.match(await renew(tokens.refresh_token, elsewhere), { status: 400, json: { error: 'invalid_target' } });
});

t.test('a bad request of a client that anybody may have registered does not redirect to another site', async (t) => {
  const site = 'https://evil.example/back';
  const { json } = await api.call('', 'POST', '/oauth/register', { body: { redirect_uris: [site, 'http://localhost/back'] } });
  const open = (redirect_uri: string) =>
    fetch(`${api.url}/oauth/authorize?${new URLSearchParams({ client_id: json.client_id, redirect_uri, response_type: 'code' })}`, {
      redirect: 'manual',
    });
  const answer = await open(site);
  t.equal(answer.status, 400);
  t.equal(answer.headers.get('location'), null);
  t.match(await answer.text(), /PKCE/, 'the person sees an explanation');
  const own = await open('http://localhost:52001/back');
  t.equal(own.status, 302, 'any port of localhost is accepted, and a local program receives the error');
  t.match(own.headers.get('location'), /^http:\/\/localhost:52001\/back\?error=invalid_request/);
});

t.test('browsers may call the assistant endpoints from other sites', async (t) => {
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
