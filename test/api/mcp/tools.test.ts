import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import t from 'tap';
import { testApi } from '../../support/api/client.ts';

const api = await testApi(t);
const workspace = await api.world.workspace({ name: 'Acme' });
const ann = await api.world.member(workspace, { role: 'owner' });
const long = Array.from({ length: 900 }, (_, i) => ({
  start: i * 4,
  end: i * 4 + 3,
  speaker: `speaker_${1 + (i % 2)}`,
  text: `This is turn number ${i + 1}, about ${i === 700 ? 'a rhinoceros' : 'the weather'} and other things.`,
}));
const id = await api.world.transcription(ann, { filename: 'long.wav', externalId: 'deal/42', turns: long, duration: 3600 });

async function connect(key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', api.url), { requestInit: { headers: { authorization: `Bearer ${key}` } } }),
  );
  return client;
}

// biome-ignore lint/suspicious/noExplicitAny: results are inspected
type Result = any;
const ask = async (client: Client, name: string, input: Record<string, unknown>): Promise<Result> =>
  client.callTool({ name, arguments: input });

const { key } = await api.world.key(ann);
const client = await connect(key);
t.teardown(() => client.close());

t.test('the official client connects by API key and finds the eight tools, with only request_reports writing', async (t) => {
  const { tools } = await client.listTools();
  t.strictSame(
    tools.map(({ name }) => name),
    [
      'list_transcriptions',
      'search_by_external_id',
      'search_transcripts',
      'get_transcription',
      'list_templates',
      'request_reports',
      'get_workspace',
      'export_transcription',
    ],
  );
  t.strictSame(
    tools.filter(({ annotations }) => !annotations?.readOnlyHint).map(({ name }) => name),
    ['request_reports'],
  );
});

t.test('initialize accepts every listed revision, and answers others with the newest; nothing is pushed', async (t) => {
  for (const [offered, answered] of [
    ['2099-01-01', '2025-11-25'],
    ['1.0', '2025-11-25'],
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-10-07', '2024-10-07'],
  ] as const) {
    const params = { protocolVersion: offered, capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
    const answer = await api.call(key, 'POST', '/mcp', { body, headers: { accept: 'application/json, text/event-stream' } });
    t.match(answer, { status: 200, json: { result: { protocolVersion: answered, serverInfo: { name: 'longhand' } } } }, offered);
    t.equal(answer.json.result.capabilities.tools.listChanged, false);
  }
});

t.test('a message with an unsupported revision is refused with the supported ones', async (t) => {
  const ask = (revision: string) =>
    api.call(key, 'POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 7, method: 'tools/list', params: {} },
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': revision },
    });
  const refused = await ask('2099-01-01');
  t.match(refused, { status: 400, json: { jsonrpc: '2.0', id: 7, error: { code: -32022, data: { requested: '2099-01-01' } } } });
  const [newest, ...handshaken] = refused.json.error.data.supported;
  t.equal(newest, '2026-07-28', 'see revisions.test.ts');
  t.ok(handshaken.includes('2025-11-25'));
  for (const revision of handshaken) t.equal((await ask(revision)).status, 200, revision);
});

t.test('a batch is refused: each message counts against the request rate', async (t) => {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_workspace', arguments: {} } };
  const ask = (body: unknown) => api.call(key, 'POST', '/mcp', { body, headers: { accept: 'application/json, text/event-stream' } });
  t.match(await ask([message, { ...message, id: 2 }]), { status: 422, json: { code: 'validation_error' } });
  t.equal((await ask(message)).status, 200);
});

t.test('search_by_external_id finds a call by its deal id, and get_transcription returns all of it in parts', async (t) => {
  const found = await ask(client, 'search_by_external_id', { external_id: 'deal/42' });
  t.equal(found.structuredContent.items[0].id, id);
  const seen: number[] = [];
  let parts = 0;
  for (let next: number | null = 1; next !== null; parts++) {
    const { structuredContent: part, content } = await ask(client, 'get_transcription', { id, from_segment: next });
    t.ok(content[0].text.length < 60_000, 'a part fits a context');
    seen.push(...part.segments.map((segment: { id: number }) => segment.id));
    next = part.next_segment;
  }
  t.ok(parts > 1);
  t.strictSame(
    seen,
    long.map((_, i) => i + 1),
    'every turn once, in order',
  );
});

t.test('get_transcription filters by words, time and speaker', async (t) => {
  const only = async (input: object) => (await ask(client, 'get_transcription', { id, ...input })).structuredContent;
  t.match(await only({ search: 'RHINOCEROS' }), { segments_matching: 1, segments: [{ id: 701 }] });
  t.strictSame(
    (await only({ start: 4, end: 10 })).segments.map((s: { id: number }) => s.id),
    [2, 3],
  );
  t.equal((await only({ speaker: 'Speaker 2', end: 100 })).segments_matching, 12);
});

t.test('export_transcription returns a long document in parts that join to the whole', async (t) => {
  let whole = '';
  for (let from: number | null = 0; from !== null; ) {
    const { structuredContent } = await ask(client, 'export_transcription', { id, format: 'txt', from_character: from });
    whole += structuredContent.document;
    from = structuredContent.next_character;
  }
  const { text } = await api.call(key, 'GET', `/v1/transcriptions/${id}/export?format=txt`);
  t.equal(whole, text.replace(/^\uFEFF/, ''));
});

t.test('export_transcription never splits a character', async (t) => {
  const smiling = await api.world.transcription(ann, { turns: [{ start: 0, end: 1, speaker: null, text: `${'😀'.repeat(13_000)}` }] });
  for (const from_character of [0, 1]) {
    const { structuredContent } = await ask(client, 'export_transcription', { id: smiling, format: 'txt', from_character });
    t.notMatch(structuredContent.document, /\p{Surrogate}$/u);
    t.equal(structuredContent.next_character, from_character + structuredContent.document.length);
  }
});

t.test('request_reports starts reports with reports:write, and is refused with an explanation without it', async (t) => {
  const made = await ask(client, 'request_reports', { id, reports: ['summary'] });
  t.match(made.structuredContent, { reports: [{ slug: 'summary', status: 'queued' }] });
  const reader = await connect((await api.world.key(ann, ['read'])).key);
  const refused = await ask(reader, 'request_reports', { id, reports: ['tasks'] });
  t.equal(refused.isError, true);
  t.match(JSON.parse(refused.content[0].text), { code: 'reports_scope_required', status: 403 });
  await reader.close();
});

t.test('every tool declares its output, and the official client finds that the output matches', async (t) => {
  const { tools } = await client.listTools();
  for (const { name, outputSchema } of tools) t.match(outputSchema, { type: 'object', properties: {} }, name);
  await api.world.report(id, 'quotes', 'completed', 'a'.repeat(20_000));
  await api.world.report(id, 'decisions', 'completed', 'b'.repeat(20_000));
  await api.world.transcription(ann, { status: 'processing', filename: 'now.mp3', stage: 'transcribing', fraction: 0.5 });
  const inputs: [string, Record<string, unknown>][] = [
    ['list_transcriptions', { status: 'processing' }],
    ['list_transcriptions', { sort: 'duration', metadata: { none: '1' } }],
    ['search_by_external_id', { external_id: 'deal/42' }],
    ['get_transcription', { id }],
    ['list_templates', {}],
    ['request_reports', { id, reports: ['tasks'] }],
    ['get_workspace', {}],
    ['export_transcription', { id }],
  ];
  for (const [name, input] of inputs) {
    const answer = await ask(client, name, input); // throws if the answer does not match the declared output
    t.notOk(answer.isError, name);
    t.strictSame(JSON.parse(answer.content[0].text), answer.structuredContent, name);
  }
  const [first, later] = [
    (await ask(client, 'get_transcription', { id })).structuredContent,
    (await ask(client, 'get_transcription', { id, from_segment: 2 })).structuredContent,
  ];
  const texts = (part: Result) =>
    part.prompt_results.map(({ slug, text }: { slug: string; text: string | null }) => [slug, text?.length ?? 0]);
  t.strictSame(new Map(texts(first)).get('quotes'), 20_000);
  t.strictSame(new Map(texts(first)).get('decisions'), 0, 'text that does not fit is only in the export');
  t.ok(texts(later).every(([, length]: [string, number]) => length === 0));
});

t.test('a list of large records is returned in parts that fit a context', async (t) => {
  const eve = await api.world.member(await api.world.workspace(), { role: 'owner' });
  const metadata = JSON.stringify(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`key-${n}`, 'v'.repeat(100)])));
  for (let n = 0; n < 25; n++) await api.world.transcription(eve, { metadata, summary: 's'.repeat(1_000) });
  const reader = await connect((await api.world.key(eve)).key);
  const seen = new Set<string>();
  for (let offset: number | null = 0; offset !== null; ) {
    const { structuredContent: part, content } = await ask(reader, 'list_transcriptions', { limit: 100, offset });
    t.ok(content[0].text.length < 60_000);
    for (const item of part.items) seen.add(item.id);
    offset = part.next_offset;
  }
  t.equal(seen.size, 25);
  await reader.close();
});

t.test('a token without the scope is refused, and invalid calls are explained', async (t) => {
  const { key: bare } = await api.world.token(ann, ['reports:write']);
  const refused = await api.call(bare, 'POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } });
  t.match(refused, { status: 403, json: { code: null, message: /lacks the permission "read"/ } });
  const wrong: [string, Record<string, unknown>, RegExp][] = [
    ['get_transcription', { id: 'deal/42' }, /id/],
    ['get_transcription', {}, /id/],
    ['request_reports', { id, reports: [] }, /reports/],
    ['request_reports', { id, reports: ['no-such-template'] }, /prompt_not_found/],
    ['list_transcriptions', { date_from: '2026-02-30' }, /date_from/],
    ['get_transcription', { id: '7b0a3a3c-0000-4000-8000-000000000000' }, /find ids with search_transcripts/],
    ['no_such_tool', {}, /no_such_tool/],
  ];
  for (const [name, input, words] of wrong) {
    const result = await ask(client, name, input).catch((error: Error) => ({ isError: true, content: [{ text: error.message }] }));
    t.equal(result.isError, true, name);
    t.match(result.content[0].text, words, name);
  }
});

t.test('metadata is returned as it was given: its numbers are not rounded', async (t) => {
  const metadata = '{"id":1234567890123456789,"price":1.50,"ids":[-12345678901234567890,1E3,7],"text":"1234567890123456789 \\"1.50\\""}';
  const exact = await api.world.transcription(ann, { metadata, externalId: 'exact' });
  for (const [name, input] of [
    ['search_by_external_id', { external_id: 'exact' }],
    ['list_transcriptions', { metadata: { id: '1234567890123456789' } }],
    ['get_transcription', { id: exact }],
  ]) {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } };
    const { text } = await api.call(key, 'POST', '/mcp', { body, headers: { accept: 'application/json, text/event-stream' } });
    t.ok(text.includes(`"metadata":${metadata}`), `${name}: structured`);
    t.ok(JSON.parse(text).result.content[0].text.includes(`"metadata":${metadata}`), `${name}: as text`);
  }
});

t.test('tools answer for foreign records as if they did not exist', async (t) => {
  const other = await api.world.member(await api.world.workspace(), { role: 'owner' });
  const stranger = await connect((await api.world.key(other)).key);
  for (const name of ['get_transcription', 'export_transcription']) {
    const answer = await ask(stranger, name, { id });
    t.match(JSON.parse(answer.content[0].text), { status: 404, code: null });
  }
  t.equal((await ask(stranger, 'list_transcriptions', {})).structuredContent.total, 0);
  await stranger.close();
});

t.test('malformed messages are answered with JSON errors, never 500', async (t) => {
  for (const body of [
    '',
    '{',
    '[]',
    '42',
    '"x"',
    '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","id":1,"method":"nope"}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope"}}',
  ]) {
    const answer = await api.call(key, 'POST', '/mcp', { body, headers: { accept: 'application/json, text/event-stream' } });
    t.ok(answer.status < 500, `${body} -> ${answer.status}`);
    t.ok(answer.json !== undefined || answer.status === 202, body);
  }
});
