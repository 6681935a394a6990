import t from 'tap';
import { ApiError } from '../../../api/contract/errors.ts';
import { answerMcp } from '../../../api/mcp/server.ts';

const SECRET = 'connect ECONNREFUSED 10.1.2.3:5432';

/** Calls a tool whose route fails with `thrown`. Resolves with the response and the errors that would be logged. */
async function call(revision: string, thrown: Error) {
  const unexpected: unknown[] = [];
  const call = { name: 'get_workspace', arguments: {} };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  };
  const accepted = { accept: 'application/json, text/event-stream', 'content-type': 'application/json', 'mcp-protocol-version': revision };
  const described = revision === '2026-07-28';
  const headers = described ? { ...accepted, 'mcp-method': 'tools/call', 'mcp-name': 'get_workspace' } : accepted;
  const response = await answerMcp(
    new Request('http://127.0.0.1/mcp', { method: 'POST', headers }),
    { jsonrpc: '2.0', id: 7, method: 'tools/call', params: described ? { ...call, _meta } : call },
    {
      requestId: 'r-1',
      ask: () => Promise.reject(thrown),
      toApiError(error) {
        if (error instanceof ApiError) return error;
        unexpected.push(error);
        return new ApiError('internal_error');
      },
    },
  );
  return { status: response.status, text: await response.text(), unexpected };
}

for (const revision of ['2025-06-18', '2026-07-28']) {
  t.test(`a fault during a tool call of revision ${revision} is logged, and not revealed`, async (t) => {
    const fault = new Error(SECRET);
    const { status, text, unexpected } = await call(revision, fault);
    t.equal(status, 200);
    t.match(JSON.parse(text), {
      id: 7,
      result: { isError: true, content: [{ text: /"code":"internal_error","status":500,.*"request_id":"r-1"/ }] },
    });
    t.notMatch(text, SECRET);
    t.strictSame(unexpected, [fault]);
  });

  t.test(`a refusal during a tool call of revision ${revision} is returned with its code, and not logged as a fault`, async (t) => {
    const { text, unexpected } = await call(revision, new ApiError('reports_scope_required'));
    t.match(JSON.parse(text), { result: { isError: true, content: [{ text: /"code":"reports_scope_required","status":403/ }] } });
    t.strictSame(unexpected, []);
  });
}
