import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import t from 'tap';
import { testApi } from '../../support/client.ts';

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

// biome-ignore lint/suspicious/noExplicitAny: results are looked into
type Result = any;
const ask = async (client: Client, name: string, input: Record<string, unknown>): Promise<Result> =>
  client.callTool({ name, arguments: input });

const { key } = await api.world.key(ann);
const client = await connect(key);
t.teardown(() => client.close());

t.test('the official client connects by API key and finds the seven tools, with only request_reports writing', async (t) => {
  const { tools } = await client.listTools();
  t.strictSame(
    tools.map(({ name }) => name),
    [
      'list_transcriptions',
      'search_by_external_id',
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

t.test('initialize answers a newer client with revision 2025-06-18', async (t) => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2099-01-01', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  };
  const answer = await api.call(key, 'POST', '/mcp', { body: initialize, headers: { accept: 'application/json, text/event-stream' } });
  t.match(answer, { status: 200, json: { result: { protocolVersion: '2025-06-18', serverInfo: { name: 'longhand' } } } });
});

t.test('search_by_external_id finds a call by its deal id, and get_transcription reads it whole in parts', async (t) => {
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

t.test('get_transcription narrows by words, time and speaker', async (t) => {
  const only = async (input: object) => (await ask(client, 'get_transcription', { id, ...input })).structuredContent;
  t.match(await only({ search: 'RHINOCEROS' }), { segments_matching: 1, segments: [{ id: 701 }] });
  t.strictSame(
    (await only({ start: 4, end: 10 })).segments.map((s: { id: number }) => s.id),
    [2, 3],
  );
  t.equal((await only({ speaker: 'Speaker 2', end: 100 })).segments_matching, 12);
});

t.test('export_transcription gives a long document in parts that join to the whole', async (t) => {
  let whole = '';
  for (let from: number | null = 0; from !== null; ) {
    const { structuredContent } = await ask(client, 'export_transcription', { id, format: 'txt', from_character: from });
    whole += structuredContent.document;
    from = structuredContent.next_character;
  }
  const { text } = await api.call(key, 'GET', `/v1/transcriptions/${id}/export?format=txt`);
  t.equal(whole, text.replace(/^\uFEFF/, ''));
});

t.test('request_reports starts reports with reports:write, and is refused in words without it', async (t) => {
  const made = await ask(client, 'request_reports', { id, reports: ['summary'] });
  t.match(made.structuredContent, { reports: [{ slug: 'summary', status: 'queued' }] });
  const reader = await connect((await api.world.key(ann, ['read'])).key);
  const refused = await ask(reader, 'request_reports', { id, reports: ['tasks'] });
  t.equal(refused.isError, true);
  t.match(JSON.parse(refused.content[0].text), { code: 'reports_scope_required', status: 403 });
  await reader.close();
});

t.test('tools answer for what is foreign as if it did not exist', async (t) => {
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
