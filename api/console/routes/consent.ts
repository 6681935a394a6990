import { z } from 'zod';
import { invalid } from '../../contract/errors.ts';
import { parseQuery } from '../../http/request.ts';
import { type Context, json } from '../../http/route.ts';
import { approve, deny, readConsent } from '../../mcp/oauth/authorize.ts';
import { OAuthError } from '../../mcp/oauth/parameters.ts';
import { page } from '../page.ts';

/** A consent request, validated by the authorization endpoint; problems are reported as a validation error. */
async function asked(context: Context, parameters: ReadonlyMap<string, readonly string[]>) {
  try {
    return await readConsent(context, parameters);
  } catch (error) {
    if (error instanceof OAuthError) throw invalid([{ field: 'query', message: error.message }]);
    throw error;
  }
}

export const consent = page({
  method: 'GET',
  path: '/consent',
  async handler(context, actor) {
    const { client, redirectUri, scopes } = await asked(context, context.request.parameters);
    const { host, protocol } = new URL(redirectUri);
    return json(200, { client: { name: client.name }, redirect_host: host || protocol, scopes, workspace: actor.workspaceName });
  },
});

export const giveConsent = page({
  method: 'POST',
  path: '/consent',
  body: z.strictObject({ query: z.string().max(8_000), approve: z.boolean() }),
  async handler(context, actor) {
    const { query, approve: agreed } = await context.body();
    const request = await asked(context, parseQuery(query.replace(/^\?/, '')));
    return json(200, { redirect: agreed ? await approve(context, actor, request) : deny(context, request) });
  },
});
