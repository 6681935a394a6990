import { check, type Request, readQuery } from '../http/request.ts';
import type { Context, Reply, Route } from '../http/route.ts';
import { authorize, type Caller } from './caller.ts';

export interface Ask {
  params?: Record<string, string>;
  query?: Record<string, string | undefined>;
  body?: unknown;
}

/**
 * Calls a route for somebody who did not come with an API key: an assistant, or a person signed in to the console. The same access rules,
 * schemas and handler as over HTTP. Throws the ApiErrors that the route would answer with.
 */
export async function invoke(route: Route, context: Context, caller: Caller, ask: Ask): Promise<Reply> {
  if (route.access) authorize(caller, route.access);
  const parameters = new Map(
    Object.entries(ask.query ?? {}).flatMap(([name, value]) => (value === undefined ? [] : [[name, [value]] as const])),
  );
  const request: Request = { ...context.request, method: route.method, parameters, headers: new Map(), repeated: new Set(), body: null };
  return route.handler(
    Object.create(context, {
      caller: { value: caller },
      request: { value: request },
      params: { value: ask.params ?? {} },
      query: { get: () => route.query && readQuery(parameters, route.query) },
      json: { value: async () => ask.body },
      body: { value: async () => check(route.body!, ask.body) },
    }),
  );
}

/** The whole answer as text. */
export async function textOf(reply: Reply): Promise<string> {
  if (reply.body !== undefined) return Buffer.from(reply.body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of reply.stream ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
