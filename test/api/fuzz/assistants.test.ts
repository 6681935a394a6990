import fc from 'fast-check';
import t from 'tap';
import { encoded, headerValue, judge, odd, openTarget, RUNS, request } from '../../support/api/fuzz.ts';

const { api, id, bearer, exchange, always } = await openTarget(t);

t.test('hostile messages to /mcp get answers in JSON-RPC or well-formed refusals', async (t) => {
  const word = (words: string) => fc.constantFrom(...words.split(' '));
  const methods = 'initialize tools/list tools/call ping resources/list notifications/initialized notifications/cancelled';
  const method = fc.oneof(word(methods), odd);
  const reading = 'list_transcriptions get_transcription search_by_external_id list_templates get_workspace export_transcription';
  const tool = word(`${reading} request_reports x`);
  const value: fc.Arbitrary<unknown> = fc.oneof(odd, fc.constant(id), fc.jsonValue({ maxDepth: 2 }), fc.integer(), fc.constant(null));
  const fields = word('id external_id limit offset slugs reports format query status metadata from part x');
  const input = fc.dictionary(fields, value, { maxKeys: 5 });
  const params = fc.oneof(
    fc.record({ name: fc.oneof({ weight: 4, arbitrary: tool }, odd), arguments: fc.oneof({ weight: 4, arbitrary: input }, value) }),
    fc.jsonValue(),
  );
  const message = fc.record(
    {
      jsonrpc: fc.constantFrom('2.0', '1.0'),
      id: fc.oneof(fc.integer(), odd, fc.constant(null)),
      method: fc.oneof({ weight: 4, arbitrary: fc.constant('tools/call') }, method),
      params,
    },
    { requiredKeys: ['method'] },
  );
  const body = fc.oneof(
    { weight: 6, arbitrary: message.map((one) => JSON.stringify({ jsonrpc: '2.0', id: 1, ...one })) },
    fc.array(message).map((all) => JSON.stringify(all)),
    odd,
  );
  await always(
    t,
    fc.tuple(body, fc.oneof(fc.constant('application/json, text/event-stream'), headerValue)),
    async ([body, accept]) => {
      judge(await exchange(request('POST', '/mcp', { ...bearer, 'Content-Type': 'application/json', Accept: accept }, body)), 'rpc');
    },
    2 * RUNS,
  );
});

t.test('hostile OAuth parameters get well-formed refusals', async (t) => {
  const registered = await api.call('', 'POST', '/oauth/register', {
    body: { client_name: 'x', redirect_uris: ['http://127.0.0.1:9/cb'] },
  });
  const value = fc.oneof(
    encoded,
    fc.constantFrom(
      registered.json.client_id,
      'code',
      'authorization_code',
      'refresh_token',
      'S256',
      encodeURIComponent('http://127.0.0.1:9/cb'),
      'read',
      encodeURIComponent(`${api.url}/mcp`),
    ),
  );
  const field = fc.constantFrom(
    'response_type',
    'client_id',
    'redirect_uri',
    'scope',
    'state',
    'code_challenge',
    'code_challenge_method',
    'resource',
    'grant_type',
    'code',
    'code_verifier',
    'refresh_token',
    'token',
  );
  const form = fc.dictionary(field, value, { maxKeys: 9 }).map((all) =>
    Object.entries(all)
      .map(([name, value]) => `${name}=${value}`)
      .join('&'),
  );
  const full = fc
    .tuple(fc.constantFrom('authorization_code', 'refresh_token'), form)
    .map(([grant, more]) => `grant_type=${grant}&client_id=${registered.json.client_id}&${more}`);
  const uri = fc.oneof(
    odd,
    fc.webUrl(),
    fc.constantFrom('javascript:alert(1)', 'http://evil.example/cb', 'https://a/\0', 'com.app:/x', 'http://[::1'),
  );
  const client = fc.record(
    {
      client_name: fc.oneof(odd, fc.jsonValue()),
      redirect_uris: fc.oneof(fc.array(uri, { maxLength: 3 }), fc.jsonValue()),
      token_endpoint_auth_method: fc.oneof(fc.constant('none'), odd),
    },
    { requiredKeys: ['redirect_uris'] },
  );
  const calls = fc.oneof(
    form.map((query) => request('GET', `/oauth/authorize?${query}`, {})),
    fc.oneof(form, full).map((body) => request('POST', '/oauth/token', { 'Content-Type': 'application/x-www-form-urlencoded' }, body)),
    form.map((body) => request('POST', '/oauth/revoke', { 'Content-Type': 'application/x-www-form-urlencoded' }, body)),
    client.map((body) => request('POST', '/oauth/register', { 'Content-Type': 'application/json' }, JSON.stringify(body))),
    odd.map((body) => request('POST', '/oauth/register', {}, body)),
  );
  await always(t, calls, async (bytes) => judge(await exchange(bytes), bytes.includes('/oauth/authorize') ? 'page' : 'oauth'), 3 * RUNS);
});

t.test('NUL in an OAuth parameter is refused, however it is sent', async (t) => {
  const { api, exchange } = await openTarget(t); // above, this address may have sent too many invalid requests
  const uri = 'http://127.0.0.1:9/cb';
  const { json: client } = await api.call('', 'POST', '/oauth/register', { body: { client_name: 'x', redirect_uris: [uri] } });
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  for (const name of ['token', 'client_id', 'code', 'redirect_uri', 'refresh_token', 'code_verifier']) {
    for (const path of ['/oauth/revoke', '/oauth/token?', '/oauth/token']) {
      const grant = path.endsWith('?') ? 'refresh_token' : 'authorization_code';
      const fields = { token: 'x', code: 'x', refresh_token: 'x', code_verifier: 'x', client_id: client.client_id, redirect_uri: uri };
      const body = new URLSearchParams({ grant_type: grant, ...fields, [name]: 'a\0b' }).toString();
      const answer = await exchange(request('POST', path, form, body));
      judge(answer, 'oauth');
      t.match(answer, { status: 400, json: { error: 'invalid_request' } }, `${path} ${name}`);
    }
  }
  const query = new URLSearchParams({ client_id: client.client_id, redirect_uri: `${uri}\0`, response_type: 'code' }).toString();
  const page = await exchange(request('GET', `/oauth/authorize?${query}`, {}));
  judge(page, 'page');
  t.equal(page!.status < 300, false);
});
