import { invalid } from '../contract/errors.ts';
import { invoke, textOf } from '../guard/invoke.ts';
import { toApiError } from '../http/error-response.ts';
import { originOf } from '../http/public-url.ts';
import { type Reply, route } from '../http/route.ts';
import { unmark } from './exact.ts';

const PASSED = /^(accept|content-type|last-event-id|mcp-.*)$/; // headers that the protocol reads
const LATIN1 = /^[\x00-\xff]*$/; // Headers throws on other characters

/** Streamable HTTP of the Model Context Protocol. GET is 405, because the server never pushes. */
export const mcp = route({
  method: 'POST',
  path: '/mcp',
  summary: 'Model Context Protocol',
  tag: 'Assistants',
  access: { scope: 'read', scopeError: null },
  challenge: (request, settings) => `Bearer resource_metadata="${originOf(request, settings)}/.well-known/oauth-protected-resource"`,
  hidden: true,
  answers: {},
  errors: ['validation_error'],
  async handler(context) {
    const { caller, request, settings } = context;
    const { answerMcp } = await import('./server.ts'); // loaded on demand: a large library
    const message = await context.json();
    // revisions since 2025-06-18 have no batches, and 100 calls would count as one for the rate limit
    if (Array.isArray(message)) throw invalid([{ field: 'body', message: 'must be a single message: batches are not supported' }]);
    const url = `${originOf(request, settings)}/mcp`;
    const headers = new Headers([...request.headers].filter(([name, value]) => PASSED.test(name) && LATIN1.test(value)));
    const answer = await answerMcp(new Request(url, { method: 'POST', headers }), message, {
      requestId: request.id,
      ask: async (route, ask) => textOf(await invoke(route, context, caller, ask)),
      toApiError: (thrown) => toApiError(thrown, request, context.log),
    });
    const type = answer.headers.get('content-type');
    return { status: answer.status, headers: type ? { 'content-type': type } : {}, body: unmark(await answer.text()) } as Reply;
  },
});
