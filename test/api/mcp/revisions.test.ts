import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import t from 'tap';
import { testApi } from '../../support/api/client.ts';

/* Revision 2026-07-28, in which each request describes itself. Revisions with `initialize` are in tools.test.ts. */

const REVISION = '2026-07-28';
const api = await testApi(t);
const ann = await api.world.member(await api.world.workspace({ name: 'Acme' }), { role: 'owner' });
const id = await api.world.transcription(ann, { externalId: 'deal/42', metadata: '{"big":12345678901234567890}' });
const { key } = await api.world.key(ann);
const reader = await api.world.key(ann, ['read']);

/** Sends one request as a client of this revision does. `headers` replace those of the protocol. */
function send(method: string, params: Record<string, unknown> = {}, headers: Record<string, string> = {}, revision = REVISION) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  };
  return api.call(key, 'POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 7, method, params: { ...params, _meta } },
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': revision, 'mcp-method': method, ...headers },
  });
}

async function connect(held: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { authorization: `Bearer ${held}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', api.url), { requestInit }));
  return client;
}

t.test('the official client chooses this revision without a handshake, and calls tools', async (t) => {
  const client = await connect(key);
  t.equal(client.getNegotiatedProtocolVersion(), REVISION);
  t.equal((await client.listTools()).tools.length, 8);
  const found = await client.callTool({ name: 'search_by_external_id', arguments: { external_id: 'deal/42' } });
  t.match(found.structuredContent, { total: 1, items: [{ id }] });
  const absent = await client.callTool({ name: 'get_transcription', arguments: { id: '5b8f2a34-0000-4000-8000-000000000000' } });
  t.match(absent, { isError: true, content: [{ text: /"status":404/ }] });
  await client.close();
});

t.test('a key without the scope of a tool gets the refusal as the result of the tool', async (t) => {
  const client = await connect(reader.key);
  const refused = await client.callTool({ name: 'request_reports', arguments: { id, reports: ['summary'] } });
  t.match(refused, { isError: true, content: [{ text: /"code":"reports_scope_required","status":403/ }] });
  await client.close();
});

t.test('discovery names the revision, the server and its tools, which do not change', async (t) => {
  t.match(await send('server/discover'), {
    status: 200,
    json: { id: 7, result: { resultType: 'complete', supportedVersions: [REVISION], capabilities: { tools: { listChanged: false } } } },
  });
});

t.test('metadata has its numbers as uploaded', async (t) => {
  const { text } = await send('tools/call', { name: 'get_transcription', arguments: { id } }, { 'mcp-name': 'get_transcription' });
  t.match(text, /"big":12345678901234567890[^0-9]/);
});

t.test('a subscription ends at once: nothing is announced', async (t) => {
  const { status, text } = await send('subscriptions/listen', { notifications: { toolsListChanged: true } });
  t.equal(status, 200);
  t.match(text, /notifications\/subscriptions\/acknowledged/);
  t.match(text, /"resultType":"complete"/);
});

t.test('a request that does not describe itself is refused with the reason', async (t) => {
  const call = { name: 'get_workspace', arguments: {} };
  t.match(await send('tools/call', call), { status: 400, json: { id: 7, error: { code: -32020, message: /Mcp-Name/ } } });
  t.match(await send('tools/call', call, { 'mcp-name': 'list_templates' }), { status: 400, json: { error: { code: -32020 } } });
  t.match(await send('tools/list', {}, { 'mcp-method': 'tools/call' }), { status: 400, json: { error: { code: -32020 } } });
  t.match(await send('initialize'), { status: 404, json: { error: { code: -32601 } } });
  t.match(await send('tools/list', {}, {}, '2099-01-01'), {
    status: 400,
    json: { id: 7, error: { code: -32022, data: { requested: '2099-01-01', supported: [REVISION, '2025-11-25'] } } },
  });
});
