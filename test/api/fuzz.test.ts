/*
 * Hostile requests over real sockets: whatever comes, the answer is below 500, in the contract's shape, in time, and the server goes on.
 * A failure prints its seed and path: SEED=n repeats it, RUNS=n tries more.
 */
import fc from 'fast-check';
import t from 'tap';
import { testApi } from '../support/client.ts';
import { connectRaw, head, type RawAnswer } from '../support/raw.ts';
import { FILE, uploadHeaders } from '../support/uploads.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 2 ** 31);
const RUNS = Number(process.env.RUNS ?? 120);
const PATIENCE_MS = 5_000; // an answer takes milliseconds; more is a hang
const LONGEST_MS = 40_000; // of one property, shrinking included

const api = await testApi(t);
const workspace = await api.world.workspace({ minutes: 1e9 });
const owner = await api.world.member(workspace, { role: 'owner', email: 'owner@example.org' });
const { key } = await api.world.key(owner);
const id = await api.world.transcription(owner, { externalId: 'deal/42', metadata: '{"deal":42,"tags":["a"]}' });
const bearer = { Authorization: `Bearer ${key}` };

/** Sends these bytes on a connection of their own. Null: the server closed without an answer. */
async function exchange(bytes: string | Uint8Array): Promise<RawAnswer | null> {
  const connection = await connectRaw(api.url);
  try {
    connection.write(bytes);
    return await connection.answer(PATIENCE_MS).catch((error: Error) => {
      if (error.message.includes('connection was closed') && !error.message.includes('HTTP/1.1')) return null;
      throw error;
    });
  } finally {
    connection.end(true);
  }
}

/** A request whose header values are bytes as given: `latin1` code units. */
function request(method: string, path: string, headers: Record<string, string>, body: string | Uint8Array = ''): Buffer {
  const bytes = Buffer.from(body as string);
  const all = { ...headers, ...(bytes.length || method !== 'GET' ? { 'Content-Length': String(bytes.length) } : {}) };
  return Buffer.concat([Buffer.from(head(method, path, all), 'latin1'), bytes]);
}

/** Throws when an answer is none that the contract knows. */
function judge(answer: RawAnswer | null, form: 'contract' | 'oauth' | 'rpc' | 'page' = 'contract'): void {
  if (!answer) throw new Error('closed without an answer');
  const { status, headers, body, json } = answer;
  if (status >= 500) throw new Error(`${status} ${body}`);
  if (status < 400) return;
  const ours = headers.has('x-request-id');
  if (!ours && [400, 431, 505].includes(status)) return; // of the HTTP parser: HTML, documented
  const keys = Object.keys(json ?? {})
    .sort()
    .join();
  if (form === 'oauth' && keys === 'error,error_description') return;
  if (form === 'page' && headers.get('content-type')?.startsWith('text/plain')) return; // people read it
  if (form === 'rpc' && json?.jsonrpc === '2.0') return;
  if (keys !== 'code,detail,message,request_id') throw new Error(`${status} has another shape: ${body}`);
  if (!headers.get('content-type')?.startsWith('application/json')) throw new Error(`${status} is ${headers.get('content-type')}`);
  if (json.request_id !== headers.get('x-request-id')) throw new Error(`${status} has two request ids`);
  if (json.code !== null && !/^[a-z_]+$/.test(json.code)) throw new Error(`code ${json.code}`);
  if (typeof json.message !== 'string' || typeof json.detail !== 'object') throw new Error(body);
}

interface Asserts {
  notOk(value: unknown, message: string): unknown;
  equal(found: unknown, wanted: unknown): unknown;
}

/** Runs a property, then asks whether the server still lives. */
async function always<T>(test: Asserts, arbitrary: fc.Arbitrary<T>, property: (value: T) => Promise<void>, runs = RUNS): Promise<void> {
  const check = await fc.check(fc.asyncProperty(arbitrary, property), { seed: SEED, numRuns: runs, interruptAfterTimeLimit: LONGEST_MS });
  test.notOk(
    check.failed,
    check.failed
      ? `SEED=${SEED} path ${check.counterexamplePath}\n${fc.defaultReportMessage(check)}`
      : `${check.numRuns} runs from seed ${SEED}`,
  );
  test.equal((await api.call('', 'GET', '/healthz')).status, 200);
  await api.db.system((tx) => tx.rows('delete from transcriptions where id <> ?', [id])); // the queue has a limit
}

const ODD = [
  '\0',
  '\u0001',
  '\u001f',
  '\u007f',
  '\u0085',
  '\u00a0',
  '\u202e',
  '\u2066',
  '\ufeff',
  '\uffff',
  '\ud800',
  '🦏',
  'é',
  '%',
  '%2F',
  '%00',
  '%zz',
  '/',
  '\\',
  '..',
  "'",
  '"',
  ';',
  ',',
  '=',
  '*',
  '&',
  '#',
  '?',
  '{',
  '}',
  '[',
  ']',
  '$',
  '\\u0000',
  '\\ud800',
  ' ',
  '\t',
  '-1',
  '1e999',
  '9007199254740993',
  'null',
  'true',
  '__proto__',
  'constructor',
];
const odd = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(fc.oneof(fc.constantFrom(...ODD), fc.string({ maxLength: 6 })), { maxLength: 10 }).map((parts) => parts.join('')),
  },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 100, max: 6000 })
      .chain((length) => fc.constantFrom('a', 'é', '%41', '"').map((unit) => unit.repeat(length / unit.length))),
  },
);
/** What may stand in a header: bytes without controls, before which uWebSockets waits for more until it drops the connection. */
const headerValue = odd.map((text) =>
  Buffer.from(text)
    .toString('latin1')
    .replace(/[\0-\x1f\x7f]/g, ' ')
    .slice(0, 6000),
);
const encoded = odd.map((text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '')));
const inPath = fc.oneof(
  encoded,
  odd.map((text) =>
    Buffer.from(text)
      .toString('latin1')
      .replace(/[\s\0-\x20\x7f-\xff]/g, '_'),
  ),
);

t.comment(`SEED=${SEED}`);

t.test('bytes that are no request end in the parser', async (t) => {
  const lines = fc.array(
    fc.oneof(
      fc.constantFrom(
        'GET / HTTP/1.1',
        'POST /v1/transcriptions HTTP/1.1',
        'Host: x',
        'Content-Length: 5',
        'Content-Length: -1',
        'Transfer-Encoding: chunked',
        ': x',
        'a b: c',
        '',
        'GET / HTTP/1.0',
        'PRI * HTTP/2.0',
      ),
      odd,
    ),
    { maxLength: 8 },
  );
  await always(
    t,
    lines,
    async (lines) => {
      const connection = await connectRaw(api.url);
      connection.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'));
      const answer = await connection.answer(150).catch(() => null); // half a request has no answer
      connection.end(true);
      if (answer && answer.status >= 500 && answer.status !== 505) throw new Error(`${answer.status} ${answer.body}`);
    },
    Math.ceil(RUNS / 3),
  );
});

t.test('uploads with hostile headers are refused in shape, or kept so that they can be read', async (t) => {
  const field = (names: string[]) => fc.constantFrom(...names);
  const disposition = fc
    .oneof(
      odd.map((name) => `attachment; filename="${name}.mp3"`),
      encoded.map((name) => `attachment; filename*=UTF-8''${name}.mp3`),
      odd.map((name) => `${name}; filename=${name}`),
      odd,
    )
    .map((text) =>
      Buffer.from(text)
        .toString('latin1')
        .replace(/[\0-\x1f\x7f]/g, ' '),
    );
  const metadata = fc.oneof(
    fc.json({ maxDepth: 5 }).map((text) => Buffer.from(text).toString('latin1')),
    fc
      .dictionary(
        odd.map((text) => text.slice(0, 80)),
        fc.jsonValue({ maxDepth: 2 }),
      )
      .map((value) => Buffer.from(JSON.stringify(value)).toString('latin1')),
    headerValue,
  );
  const author = fc
    .tuple(fc.constantFrom('user', 'email', 'external', 'external:crm', '', 'x'), fc.constantFrom(':', '', '::'), headerValue)
    .map((parts) => parts.join(''));
  const headers = fc.record(
    {
      'Content-Disposition': fc.oneof(
        { weight: 2, arbitrary: disposition },
        { weight: 1, arbitrary: fc.constant('attachment; filename="call.mp3"') },
      ),
      'X-Metadata': metadata,
      'X-Author': fc.oneof(author, fc.constant('email:owner@example.org')),
      'X-External-Id': fc.oneof(headerValue, fc.stringMatching(/^[ -~]{1,128}$/)),
      'Idempotency-Key': headerValue,
      'Content-Type': headerValue,
      'X-Forwarded-For': headerValue,
      Accept: headerValue,
      'If-None-Match': headerValue,
    },
    { requiredKeys: [] },
  );
  await always(
    t,
    fc.tuple(headers, field(['', '?reports=summary', '?language=de&diarize=false'])),
    async ([headers, query]) => {
      const sent = { ...uploadHeaders(key), ...headers } as Record<string, string>;
      const answer = await exchange(request('POST', `/v1/transcriptions${query}`, sent, FILE));
      judge(answer);
      if (answer!.status !== 201) return;
      for (const path of ['', '/export?format=md', '/export?format=json']) {
        const read = await exchange(request('GET', `/v1/transcriptions/${answer!.json.uuid}${path}`, bearer));
        judge(read);
        if (read!.status !== 200) throw new Error(`accepted, but ${path} is ${read!.status} ${read!.body}`);
      }
    },
    2 * RUNS,
  );
});

t.test('hostile headers harm no request', async (t) => {
  const name = fc
    .stringMatching(/^[A-Za-z][A-Za-z-]{0,20}$/)
    .filter((name) => !/^(content-length|transfer-encoding|connection|expect|upgrade)$/i.test(name));
  const known = fc.constantFrom(
    'Authorization',
    'Accept',
    'If-None-Match',
    'Cookie',
    'Origin',
    'X-Forwarded-For',
    'X-Forwarded-Proto',
    'X-Forwarded-Host',
    'Host',
    'Range',
    'Accept-Encoding',
    'MCP-Protocol-Version',
    'Mcp-Session-Id',
  );
  const headers = fc.dictionary(fc.oneof(name, known), headerValue, { maxKeys: 12 });
  const paths = fc.constantFrom(
    'GET /v1/transcriptions',
    `GET /v1/transcriptions/${id}`,
    'GET /v1/workspace',
    'GET /docs',
    'GET /',
    'GET /v1/openapi.json',
    'GET /.well-known/oauth-authorization-server',
    'POST /mcp',
    'POST /v1/transcriptions/export',
  );
  await always(
    t,
    fc.tuple(paths, headers),
    async ([where, headers]) => {
      const [method, path] = where.split(' ') as [string, string];
      const body =
        method === 'POST'
          ? JSON.stringify(path === '/mcp' ? { jsonrpc: '2.0', id: 1, method: 'tools/list' } : { ids: [id], format: 'md' })
          : '';
      judge(
        await exchange(
          request(
            method,
            path,
            { ...bearer, Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json', ...headers },
            body,
          ),
        ),
        'rpc',
      );
    },
    2 * RUNS,
  );
});

t.test('hostile paths and queries are refused in shape', async (t) => {
  const parameter = fc.oneof(
    fc.constantFrom(
      'limit',
      'offset',
      'sort',
      'date_from',
      'date_to',
      'status',
      'language',
      'project_id',
      'external_id',
      'metadata.deal',
      'metadata.',
      'metadata.a.b',
      'format',
      'words',
      'diarize',
      'speakers_count',
      'ai_metadata',
      'reports',
      'q',
    ),
    inPath,
  );
  const query = fc
    .array(
      fc.tuple(parameter, inPath).map(([name, value]) => `${name}=${value}`),
      { maxLength: 5 },
    )
    .map((pairs) => pairs.join('&'));
  const path = fc.oneof(
    fc.constantFrom(
      '/v1/transcriptions',
      `/v1/transcriptions/${id}`,
      `/v1/transcriptions/${id}/export`,
      `/v1/transcriptions/${id}/subtitles`,
      '/v1/prompts',
      '/v1/projects',
      '/v1/workspace/members',
      '/oauth/authorize',
      '/v1/app/transcripts',
    ),
    inPath.map((part) => `/v1/transcriptions/${part}`),
    inPath.map((part) => `/v1/workspace/members/${part}/identities/${part}/${part}`),
    inPath.map((part) => `/${part}`),
    inPath.map((part) => `/assets/${part}`),
  );
  const method = fc.constantFrom('GET', 'GET', 'GET', 'DELETE', 'PUT', 'OPTIONS', 'PATCH', 'BREW');
  await always(
    t,
    fc.tuple(method, path, query),
    async ([method, path, query]) => {
      if (method === 'DELETE' && path.includes(id)) return;
      judge(await exchange(request(method, `${path}?${query}`, bearer)), path === '/oauth/authorize' ? 'page' : 'oauth');
    },
    3 * RUNS,
  );
});

t.test('hostile JSON bodies are refused in shape', async (t) => {
  const text = fc.oneof(odd, fc.uuid(), fc.constantFrom('owner@example.org', 'md', 'summary', id, owner.id, `user:${owner.id}`));
  const value: fc.Arbitrary<unknown> = fc.oneof(
    text,
    fc.jsonValue({ maxDepth: 2 }),
    fc.array(text, { maxLength: 4 }),
    fc.constant(null),
    fc.double(),
    fc.bigInt().map(Number),
  );
  const fields = fc.dictionary(
    fc.constantFrom('author', 'ids', 'format', 'reports', 'provider', 'external_id', 'x', '__proto__', 'jsonrpc'),
    value,
    { maxKeys: 4 },
  );
  const raw = fc.oneof(
    fields.map((body) => JSON.stringify(body)),
    fc.json({ maxDepth: 4 }),
    odd,
    fc.integer({ min: 10, max: 5000 }).map((depth) => '['.repeat(depth)),
    fc.constantFrom(
      '{"ids":["a"],"ids":["b"]}',
      '{"author":"\\ud800"}',
      '{"author":"a\\u0000b"}',
      '\ufeff{}',
      '{"reports":"summary"} x',
      '1e400',
      '',
    ),
  );
  const targets = fc.constantFrom(
    `PATCH /v1/transcriptions/${id}`,
    'POST /v1/transcriptions/export',
    `POST /v1/transcriptions/${id}/reports`,
    `PUT /v1/workspace/members/${owner.id}/identities`,
    'POST /v1/app/session',
  );
  await always(
    t,
    fc.tuple(targets, raw, fc.constantFrom('application/json', 'text/plain', 'multipart/form-data; boundary=x')),
    async ([target, body, type]) => {
      const [method, path] = target.split(' ') as [string, string];
      judge(await exchange(request(method, path, { ...bearer, 'Content-Type': type }, body)));
    },
    3 * RUNS,
  );
});

t.test('multipart uploads of any form are refused in shape', async (t) => {
  const part = fc
    .tuple(odd, odd)
    .map(([name, content]) => `--x\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.mp3"\r\n\r\n${content}\r\n`);
  await always(
    t,
    fc.tuple(fc.array(part, { maxLength: 4 }), headerValue),
    async ([parts, boundary]) => {
      const body = Buffer.concat([Buffer.from(`${parts.join('')}--x--\r\n`), Buffer.alloc(1100)]);
      const type = { 'Content-Type': `multipart/form-data; boundary=${boundary.slice(0, 200)}` };
      const answer = await exchange(
        request('POST', '/v1/transcriptions', { ...uploadHeaders(key), ...type } as Record<string, string>, body),
      );
      judge(answer);
      if (answer!.json?.code !== 'unsupported_file_format') throw new Error(answer!.body);
    },
    Math.ceil(RUNS / 2),
  );
});

t.test('hostile messages to /mcp are answered in JSON-RPC or in shape', async (t) => {
  const method = fc.oneof(
    fc.constantFrom(
      'initialize',
      'tools/list',
      'tools/call',
      'ping',
      'resources/list',
      'notifications/initialized',
      'notifications/cancelled',
    ),
    odd,
  );
  const tool = fc.constantFrom(
    'list_transcriptions',
    'get_transcription',
    'search_by_external_id',
    'list_templates',
    'request_reports',
    'get_workspace',
    'export_transcription',
    'x',
  );
  const value: fc.Arbitrary<unknown> = fc.oneof(odd, fc.constant(id), fc.jsonValue({ maxDepth: 2 }), fc.integer(), fc.constant(null));
  const input = fc.dictionary(
    fc.constantFrom(
      'id',
      'external_id',
      'limit',
      'offset',
      'slugs',
      'reports',
      'format',
      'query',
      'status',
      'metadata',
      'from',
      'part',
      'x',
    ),
    value,
    { maxKeys: 5 },
  );
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

t.test('hostile OAuth parameters are refused in shape', async (t) => {
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
