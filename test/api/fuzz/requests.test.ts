import fc from 'fast-check';
import t from 'tap';
import { headerValue, inPath, judge, odd, openTarget, RUNS, request } from '../../support/api/fuzz.ts';

const { id, owner, bearer, exchange, always } = await openTarget(t);

t.test('hostile headers do no harm', async (t) => {
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

t.test('hostile paths and queries get well-formed refusals', async (t) => {
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
      `/v1/transcriptions/${id}/recording`,
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

t.test('hostile JSON bodies get well-formed refusals', async (t) => {
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
