import type { MemberActor } from '../contract/actor.ts';
import { makeContext } from '../http/context.ts';
import type { Request } from '../http/request.ts';
import type { Context, Reply, Route } from '../http/route.ts';
import { authorize } from './caller.ts';

/** Input of a route. */
export interface Invocation {
  params?: Record<string, string>;
  query?: Record<string, string | undefined>;
  body?: unknown;
}

/**
 * Calls a route from another one for the same actor, as MCP tools do: same access rules, schemas and handler as over HTTP. Throws the
 * route's ApiErrors.
 */
export async function invoke(route: Route, context: Context, actor: MemberActor, asked: Invocation): Promise<Reply> {
  if (route.access) authorize(actor, route.access);
  const given = Object.entries(asked.query ?? {}).flatMap(([name, value]) => (value === undefined ? [] : [[name, [value]] as const]));
  const request: Request = {
    ...context.request,
    ...{ method: route.method, parameters: new Map(given), headers: new Map(), repeated: new Set(), body: null },
  };
  const inner = { route, request, params: asked.params ?? {}, actor, replyHeaders: context.replyHeaders, json: async () => asked.body };
  return route.handler(makeContext(context, inner));
}

/** The complete response as text. */
export async function textOf(reply: Reply): Promise<string> {
  if (reply.body !== undefined) return Buffer.from(reply.body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of reply.stream ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
