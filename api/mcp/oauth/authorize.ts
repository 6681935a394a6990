import { issueCode } from '../../../db/access/grants.ts';
import { findClient, type OAuthClient } from '../../../db/access/oauth-clients.ts';
import type { MemberActor } from '../../contract/actor.ts';
import type { Scope } from '../../contract/workspace.ts';
import { originOf } from '../../http/public-url.ts';
import { type Context, type Reply, route } from '../../http/route.ts';
import { isOwnMachine, isRegistered, OAuthError, readResource, readScopes } from './parameters.ts';

/** A validated consent request. */
export interface ConsentRequest {
  client: OAuthClient;
  redirectUri: string;
  scopes: readonly Scope[];
  resource: string;
  challenge: string;
  state: string | undefined;
}

type Parameters = ReadonlyMap<string, readonly string[]>;

/** The authorization endpoint: a valid request leads to the console's consent page, an invalid one back to the client. */
export const authorizePage = route({
  tag: 'Assistants',
  access: null,
  hidden: true,
  answers: {},
  errors: [],
  method: 'GET',
  path: '/oauth/authorize',
  summary: 'Ask a person for consent',
  async handler(context): Promise<Reply> {
    const { badCredentials, request } = context;
    const { parameters, address } = request;
    badCredentials.check(address);
    const home = await returnAddress(context, parameters);
    if (!home) {
      badCredentials.count(address);
      return told('Cannot continue: this client or its redirect_uri is not registered here. Connect the assistant again.');
    }
    try {
      await readConsent(context, parameters);
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      if (!isOwnMachine(home)) return told(`Cannot continue: ${error.message}. Connect the assistant again.`); // anybody can register a client, so do not redirect to other sites (open redirect)
      return see(
        back(home, {
          error: error.error,
          error_description: error.message,
          state: one(parameters, 'state'),
          iss: originOf(context.request, context.settings),
        }),
      );
    }
    const query = new URLSearchParams([...parameters].map(([name, values]) => [name, values[0]!]));
    return see(`/?${query}#/authorize`);
  },
});

const told = (text: string): Reply => ({
  status: 400,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
  body: text,
});
const see = (location: string): Reply => ({ status: 302, headers: { location, 'cache-control': 'no-store' }, body: '' });

/** A parameter sent once; a value with NUL counts as absent. */
function one(parameters: Parameters, name: string): string | undefined {
  const [value, ...more] = parameters.get(name) ?? [];
  return more.length || value?.includes('\0') ? undefined : value;
}

/** The registered redirect URI; null if it or the client is unknown: then no redirect is allowed. */
async function returnAddress({ db }: Context, parameters: Parameters): Promise<string | null> {
  const client = await db.acrossTenants((tx) => findClient(tx, one(parameters, 'client_id') ?? ''));
  const uri = one(parameters, 'redirect_uri') ?? (client?.redirectUris.length === 1 ? client.redirectUris[0] : undefined);
  return client && uri && isRegistered(uri, client.redirectUris) ? uri : null;
}

/** Validates a consent request. Throws OAuthError. */
export async function readConsent(context: Context, parameters: Parameters): Promise<ConsentRequest> {
  const redirectUri = await returnAddress(context, parameters);
  if (!redirectUri) throw new OAuthError('invalid_request', 'The client or its redirect_uri is not registered');
  const client = (await context.db.acrossTenants((tx) => findClient(tx, one(parameters, 'client_id')!)))!;
  if (one(parameters, 'response_type') !== 'code') throw new OAuthError('unsupported_response_type', 'response_type must be code');
  const challenge = one(parameters, 'code_challenge');
  if (!challenge || !/^[\w-]{43,128}$/.test(challenge) || one(parameters, 'code_challenge_method') !== 'S256') {
    throw new OAuthError('invalid_request', 'PKCE is required: send code_challenge with code_challenge_method=S256');
  }
  const resource = readResource(one(parameters, 'resource'), originOf(context.request, context.settings));
  return { client, redirectUri, scopes: readScopes(one(parameters, 'scope')), resource, challenge, state: one(parameters, 'state') };
}

/** The person agreed: returns the redirect URL with a code. */
export async function approve(context: Context, actor: MemberActor, asked: ConsentRequest): Promise<string> {
  const { client, scopes, resource, redirectUri, challenge, state } = asked;
  const wanted = { clientId: client.id, scopes, resource };
  const code = await context.db.workspace(actor.workspaceId, (tx) => issueCode(tx, actor, wanted, redirectUri, challenge));
  return back(redirectUri, { code, state, iss: originOf(context.request, context.settings) });
}

/** The person refused: returns the redirect URL with an error. */
export function deny(context: Context, { redirectUri, state }: ConsentRequest): string {
  return back(redirectUri, {
    error: 'access_denied',
    error_description: 'The user denied access',
    state,
    iss: originOf(context.request, context.settings),
  });
}

function back(uri: string, parameters: Record<string, string | undefined>): string {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}
