import t from 'tap';
import { SCOPES, type Scope } from '../../../api/contract/workspace.ts';
import { kindOf, newKey, newToken } from '../../../db/access/credentials.ts';
import { testApi } from '../../support/api/client.ts';
import { provokes, provokesEverywhere } from '../../support/api/provokes.ts';
import { connectRaw, head } from '../../support/api/raw.ts';
import { ENDPOINTS } from '../codes.ts';

const api = await testApi(t);
const workspace = await api.world.workspace();
const owner = await api.world.member(workspace, { role: 'owner' });
const { key } = await api.world.key(owner);

const status = async (credential: string, path = '/v1/workspace') => (await api.call(credential, 'GET', path)).status;
const sql = (text: string, parameters: unknown[]) => api.db.acrossTenants((tx) => tx.rows(text, parameters));
/** Whether it holds of something that begins `ms` from now, or before. */
const within = async (ms: number, met: () => Promise<boolean>) => {
  const start = performance.now();
  for (;;) {
    const last = performance.now() - start > ms; // when it begins: it may take long
    if (await met()) return true;
    if (last) return false;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

t.test('every endpoint answers 401 without a valid key, with WWW-Authenticate', async (t) => {
  for (const { expected, method, path } of provokesEverywhere(401, 'unauthorized')) {
    const answer = await api.call('', method, path);
    t.match(answer, expected, `${method} ${path}`);
    t.equal(answer.headers['www-authenticate'], 'Bearer');
  }
});

t.test('every endpoint answers 403 on a plan without API access', async (t) => {
  const { key: free } = await api.world.key(await api.world.member(await api.world.workspace({ plan: 'free' }), { role: 'owner' }));
  for (const { expected, method, path } of provokesEverywhere(403, 'api_access_required'))
    t.match(await api.call(free, method, path), expected, `${method} ${path}`);
});

t.test('every endpoint answers 405 to a method that it does not support', async (t) => {
  for (const { expected, path } of provokesEverywhere(405, 'method_not_allowed')) {
    const answer = await api.call(key, 'OPTIONS', path);
    t.match(answer, expected, path);
    t.match(answer.headers.allow, /^[A-Z, ]+$/);
  }
});

t.test('a key is refused when it is malformed, in the query, or not in a Bearer header', async (t) => {
  const authorization = async (value: string) => {
    const connection = await connectRaw(api.url);
    connection.write(head('GET', '/v1/workspace', { Authorization: value }));
    const answer = await connection.answer();
    connection.end();
    return answer.status;
  };
  t.equal(await authorization(`Bearer ${key}`), 200);
  t.equal(await authorization(`bearer  ${key}`), 200);
  for (const value of [
    key,
    `Basic ${key}`,
    'Bearer',
    `Bearer ${key} x`,
    `Bearer ${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`,
    `Bearer ${newKey()}`,
    `Bearer ${newToken()}`,
  ])
    t.equal(await authorization(value), 401, value.slice(0, 12));
  for (const query of [
    `api_key=${key}`,
    'APIKEY=x',
    'key=x',
    'token=x',
    'access_token=x',
    'Authorization=x',
    `anything=${key}`,
    'q=lh_x',
    'q=lht_x',
    'q=1&q=lh_x',
  ])
    t.equal(await status(key, `/v1/workspace?${query}`), 401, query.slice(0, 12));
  t.equal(await status(key, '/v1/transcriptions?metadata.token=x'), 200);
});

t.test('a revoked or expired key, and one whose creator has left, stops working within about a second', async (t) => {
  const revoked = await api.world.key(owner);
  const expired = await api.world.key(owner);
  const leaver = await api.world.member(workspace);
  const left = await api.world.key(leaver);
  for (const each of [revoked, expired, left]) t.equal(await status(each.key), 200);
  await sql('update api_keys set revoked_at = now() where id = ?', [revoked.id]);
  await sql(`update api_keys set expires_at = now() - interval '1 second' where id = ?`, [expired.id]);
  await sql(`update members set status = 'removed' where id = ?`, [leaver.id]);
  for (const each of [revoked, expired, left]) t.ok(await within(2_500, async () => (await status(each.key)) === 401));
});

/** The scope that part 5 requires for each endpoint, the response without it, and the response to tokens where those are refused first. */
const NEEDS: Record<string, [scope: Scope, code: string | null, token?: string]> = {
  'POST /transcriptions': ['uploads:write', 'upload_scope_required'],
  'GET /transcriptions': ['read', null],
  'GET /transcriptions/{id}': ['read', null],
  'PATCH /transcriptions/{id}': ['uploads:write', 'upload_scope_required', 'author_requires_api_key'],
  'DELETE /transcriptions/{id}': ['transcriptions:delete', 'delete_scope_required'],
  'GET /transcriptions/{id}/export': ['read', null],
  'GET /transcriptions/{id}/subtitles': ['read', null],
  'GET /transcriptions/{id}/recording': ['read', null],
  'POST /transcriptions/export': ['read', null],
  'GET /prompts': ['reports:write', 'reports_scope_required'],
  'POST /transcriptions/{id}/reports': ['reports:write', 'reports_scope_required'],
  'GET /workspace': ['read', null],
  'GET /projects': ['read', null],
  'GET /workspace/members': ['members:write', 'members_scope_required', 'api_key_required'],
  'PUT /workspace/members/{user_id}/identities': ['members:write', 'members_scope_required', 'api_key_required'],
  'DELETE /workspace/members/{user_id}/identities/{provider}/{external_id}': [
    'members:write',
    'members_scope_required',
    'api_key_required',
  ],
};

t.test('each endpoint needs exactly one permission, of a key and of a token alike', async (t) => {
  for (const scope of SCOPES) {
    const { key: made } = await api.world.key(owner, [scope]);
    const { key: token } = await api.world.token(owner, [scope]);
    for (const [endpoint, path] of ENDPOINTS) {
      const [needed, code, refusesTokens] = NEEDS[endpoint]!;
      const method = endpoint.split(' ')[0]!;
      const answer = await api.call(made, method, path);
      if (scope === needed) t.not(answer.status, 403, `${scope}: ${endpoint}`);
      else t.match(answer, { status: 403, json: { code } }, `${scope}: ${endpoint}`);
      const under = await api.call(token, method, path);
      if (scope === needed && !refusesTokens) t.not(under.status, 403, `token of ${scope}: ${endpoint}`);
      else t.match(under, { status: 403, json: { code: refusesTokens ?? code } }, `token of ${scope}: ${endpoint}`);
    }
  }
});

t.test('the first refusal follows the published order: 401, plan, token, scope', async (t) => {
  const poor = await api.world.member(await api.world.workspace({ plan: 'free' }));
  const { key: token } = await api.world.token(poor, []);
  t.match(await api.call(token, 'GET', '/v1/workspace/members'), { status: 403, json: { code: 'api_access_required' } });
  const { key: bare } = await api.world.token(owner, []);
  t.match(await api.call(bare, 'GET', '/v1/workspace/members'), provokes('GET /workspace/members', 403, 'api_key_required'));
  const { key: none } = await api.world.key(owner, []);
  t.match(await api.call(none, 'GET', '/v1/workspace/members'), provokes('GET /workspace/members', 403, 'members_scope_required'));
  t.match(await api.call(none, 'GET', '/v1/workspace'), provokes('GET /workspace', 403, null));
});

t.test('members:write counts only while the creator owns the workspace', async (t) => {
  const other = await api.world.member(workspace, { role: 'owner' });
  const { key: managing } = await api.world.key(other);
  t.equal(await status(managing, '/v1/workspace/members'), 200);
  await sql(`update members set role = 'user' where id = ?`, [other.id]);
  t.ok(await within(2_500, async () => (await status(managing, '/v1/workspace/members')) === 403));
  const { json } = await api.call(managing, 'GET', '/v1/workspace');
  t.strictSame(
    json.key.scopes,
    SCOPES.filter((scope) => scope !== 'members:write' && scope !== 'webhooks:write'),
  );
});

t.test('a flood of bad keys from one address is refused before any query, while known keys still work', async (t) => {
  const flooded = await testApi(t);
  const member = await flooded.world.member(await flooded.world.workspace(), { role: 'owner' });
  const { key: known } = await flooded.world.key(member);
  t.equal((await flooded.call(known, 'GET', '/v1/workspace')).status, 200);
  const guess = () => flooded.call('nonsense', 'GET', '/v1/workspace');
  let refused = await guess();
  for (let tries = 0; tries < 2_000 && refused.status === 401; tries += 50)
    refused = (await Promise.all(Array.from({ length: 50 }, guess))).find(({ status }) => status !== 401) ?? refused; // the first may pass again
  t.match(refused, provokes('GET /workspace', 429, 'rate_limit_exceeded'));
  t.match(refused.headers['retry-after'], /^[1-9]\d*$/);
  t.equal((await flooded.call(known, 'GET', '/v1/workspace')).status, 200);
});

t.test('newKey() and newToken() include a checksum that kindOf() verifies without a query', async (t) => {
  for (let n = 0; n < 200; n++) {
    const [made, token] = [newKey(), newToken()];
    t.equal(kindOf(made), 'key');
    t.equal(kindOf(token), 'token');
    const at = 4 + (n % (made.length - 4));
    const changed = made.slice(0, at) + (made[at] === 'a' ? 'b' : 'a') + made.slice(at + 1);
    t.equal(kindOf(changed), null);
  }
  t.match(newKey(), /^lh_[0-9A-Za-z]{49}$/);
});
