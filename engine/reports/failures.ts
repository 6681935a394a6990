import { type Fault, faultOf } from './endpoint.ts';
import { contextExceeded, type Features, without } from './features.ts';
import { OutOfPatience } from './patience.ts';
import { refused, timedOut, unavailable } from './reply.ts';
import { ReportError } from './report.ts';

/** The prompt is too long. `limit` is the context length reported by the server, or 0. */
export class TooLong extends Error {
  readonly limit: number;
  constructor(limit: number) {
    super('the prompt exceeds the context length of the model');
    this.limit = limit;
  }
}

/** How to handle a failed call: throw an error, which may be retried, or repeat at once with fewer features. */
export type Meaning = { error: Error; retryAfter: number | null } | { features: Features };

const REFUSED = /content_filter|content_policy|responsible_?ai|safety/i;

/** `where` is the endpoint, `name` the model, `used` the optional features in the request, if any. */
export function meaningOf(error: unknown, where: string, name: string, used: Features | null): Meaning {
  if (error instanceof ReportError || error instanceof TooLong) return { error, retryAfter: null };
  if (error instanceof OutOfPatience) return { error: timedOut(error.seconds), retryAfter: null };
  if (error instanceof SyntaxError)
    return { error: unavailable(`${where} sent malformed data; check that it supports the OpenAI protocol`, true), retryAfter: null };
  const fault = faultOf(error);
  if (fault === null)
    return { error: unavailable(`the connection to ${where} broke (${(error as Error).message})`, true), retryAfter: null };
  if (fault.status === undefined)
    return {
      error: unavailable(`${where} cannot be reached (${fault.message}); check LLM_BASE_URL and that the server is running`, true),
      retryAfter: null,
    };
  const fewer = used && fewerFeatures(fault, used);
  return fewer ?? { error: errorOf(fault, fault.status, where, name), retryAfter: fault.retryAfter };
}

/** The server rejected an optional feature. */
function fewerFeatures(fault: Fault, used: Features): { features: Features } | null {
  if (isRefusal(fault) || tooLong(fault) !== null) return null;
  const told = fault.status === 500 ? /response_format|schema|grammar/i.test(fault.message) : [400, 422, 501].includes(fault.status ?? 0);
  const features = told ? without(used, detail(fault)) : null;
  return features && { features };
}

function errorOf(fault: Fault, status: number, where: string, name: string): Error {
  const { message } = fault;
  if (isRefusal(fault)) return refused(message);
  if (status === 401 || status === 403) return unavailable(`${where} rejected the API key (${status}); check LLM_API_KEY`, false);
  if (status === 404)
    return unavailable(`${where} does not know the model '${name}' (${message}); check LLM_BASE_URL and LLM_MODEL`, false);
  const context = tooLong(fault);
  if (context !== null) return new TooLong(context);
  const passing =
    [408, 409, 425].includes(status) || (status === 429 && fault.code !== 'insufficient_quota') || (status >= 500 && status !== 501);
  return unavailable(`${where} answered ${status} (${message})`, passing);
}

function isRefusal({ status, code, message }: Fault): boolean {
  return REFUSED.test(code) || (status === 400 && /content (filter|policy|management)/i.test(message));
}

function tooLong(fault: Fault): number | null {
  if (fault.status === 413) return 0;
  return [400, 422, 500, 501].includes(fault.status ?? 0) ? contextExceeded(detail(fault)) : null;
}

function detail({ message, code, param }: Fault): string {
  return `${message} ${code} ${param}`;
}
