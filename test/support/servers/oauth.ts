import { createHash, randomBytes } from 'node:crypto';
import type { Test } from 'tap';
import { openSession } from '../../../db/access/sessions.ts';
import { testApi } from '../api/client.ts';

export const BACK = 'http://127.0.0.1:9/callback';
/** The response to an invalid code or refresh token. */
export const REFUSED = { status: 400, json: { error: 'invalid_grant' } };

/** An API with a workspace whose owner grants OAuth clients access. */
export async function oauthBench(t: Test) {
  const api = await testApi(t);
  const workspace = await api.world.workspace({ name: 'Acme' });
  const person = await api.world.member(workspace, { role: 'owner', name: 'Ann' });
  await api.world.transcription(person, { externalId: 'deal-7' });

  /** The browser of a signed-in person: follows the authorization URL to the console and responds there. */
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

  /** A registered client and its authorization URL. */
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

  /** A client with tokens that a person has granted. */
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
  const works = async (token: string) => (await api.call(token, 'GET', '/v1/workspace')).status === 200;

  return { api, workspace, person, answerConsent, request, form, connected, sql, works };
}
