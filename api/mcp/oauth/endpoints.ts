import { registerClient } from '../../../db/access/oauth-clients.ts';
import { redeemCode, refresh, revokeToken, type Tokens } from '../../../db/access/tokens.ts';
import { originOf } from '../../http/public-url.ts';
import { type Context, empty, json, type Reply, type Route, route } from '../../http/route.ts';
import { answered, GRANTABLE, isRedirectUri, NEEDED, OAuthError, OPEN_TO_ALL, readResource, readScopes } from './parameters.ts';

const FORM_BYTES = 16_384;
const hidden = { tag: 'Assistants', access: null, hidden: true, answers: {}, errors: [] } as const;

function protectedResource({ request, settings }: Context): Reply {
  const origin = originOf(request, settings);
  return json(
    200,
    {
      resource: `${origin}/mcp`,
      authorization_servers: [origin],
      scopes_supported: NEEDED,
      bearer_methods_supported: ['header'],
      resource_name: 'Longhand',
    },
    OPEN_TO_ALL,
  );
}

/** RFC 9728: the authorization server of /mcp. Clients request it with and without the resource's path. */
export const resourceMetadata = route({
  ...hidden,
  method: 'GET',
  path: '/.well-known/oauth-protected-resource',
  summary: 'Protected resource metadata',
  handler: protectedResource,
});
export const resourceMetadataOfMcp = route({
  ...hidden,
  method: 'GET',
  path: '/.well-known/oauth-protected-resource/mcp',
  summary: 'Protected resource metadata',
  handler: protectedResource,
});

/** RFC 8414. */
export const serverMetadata = route({
  ...hidden,
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  summary: 'Authorization server metadata',
  handler({ request, settings }) {
    const origin = originOf(request, settings);
    return json(
      200,
      {
        issuer: origin,
        authorization_endpoint: `${origin}/oauth/authorize`,
        token_endpoint: `${origin}/oauth/token`,
        registration_endpoint: `${origin}/oauth/register`,
        revocation_endpoint: `${origin}/oauth/revoke`,
        scopes_supported: GRANTABLE,
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        revocation_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
      },
      OPEN_TO_ALL,
    );
  },
});

/** RFC 7591: any client may register; clients are public and use PKCE. */
export const register = route({
  ...hidden,
  method: 'POST',
  path: '/oauth/register',
  summary: 'Register a client',
  handler: (context) =>
    answered(async () => {
      const { badCredentials, registrations, request } = context;
      badCredentials.check(request.address);
      registrations.check(request.address);
      registrations.count(request.address); // successful ones too: every registration is a row
      const body = (await context.json()) as Record<string, unknown> | null;
      const uris = body?.redirect_uris;
      if (!Array.isArray(uris) || !uris.length || uris.length > 10 || !uris.every((uri) => typeof uri === 'string' && isRedirectUri(uri))) {
        throw new OAuthError(
          'invalid_redirect_uri',
          'redirect_uris must contain 1 to 10 URLs: https, http on 127.0.0.1 or localhost, or a private scheme',
        );
      }
      const method = body?.token_endpoint_auth_method ?? 'none';
      if (method !== 'none')
        throw new OAuthError('invalid_client_metadata', 'token_endpoint_auth_method must be none: clients are public and use PKCE');
      const name =
        typeof body?.client_name === 'string' && body.client_name.trim() ? body.client_name.trim().slice(0, 100) : 'An assistant';
      const client = await context.db.acrossTenants((tx) => registerClient(tx, name, uris as string[]));
      return {
        client_id: client.id,
        client_id_issued_at: Math.floor(Date.now() / 1000),
        client_name: client.name,
        redirect_uris: client.redirectUris,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        scope: GRANTABLE.join(' '),
      };
    }, 201),
});

/** RFC 6749, 4.1.3 and 6, with PKCE. */
export const token = route({
  ...hidden,
  method: 'POST',
  path: '/oauth/token',
  summary: 'Exchange a code or a refresh token',
  handler: (context) =>
    answered(async () => {
      const { badCredentials, request } = context;
      badCredentials.check(request.address);
      const form = await readForm(context);
      const tokens = await exchange(context, form);
      if (!tokens) {
        badCredentials.count(request.address);
        throw new OAuthError(
          'invalid_grant',
          'The code or refresh token is unknown, expired, already used, or belongs to another client; start again',
        );
      }
      return {
        access_token: tokens.accessToken,
        token_type: 'Bearer',
        expires_in: tokens.expiresIn,
        refresh_token: tokens.refreshToken,
        scope: tokens.scopes.join(' '),
      };
    }),
});

function exchange({ db, request, settings }: Context, form: ReadonlyMap<string, string>): Promise<Tokens | null> {
  const need = (name: string) => {
    const value = form.get(name);
    if (!value) throw new OAuthError('invalid_request', `${name} is missing`);
    return value;
  };
  const kind = need('grant_type');
  const clientId = need('client_id');
  readResource(form.get('resource'), originOf(request, settings));
  if (kind === 'authorization_code') {
    const proof = { clientId, redirectUri: need('redirect_uri'), verifier: need('code_verifier') };
    const code = need('code');
    return db.acrossTenants((tx) => redeemCode(tx, code, proof));
  }
  if (kind === 'refresh_token') {
    const spent = need('refresh_token');
    const scopes = form.get('scope') ? readScopes(form.get('scope')) : null;
    return db.acrossTenants((tx) => refresh(tx, spent, clientId, scopes));
  }
  throw new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token');
}

/** RFC 7009. */
export const revoke = route({
  ...hidden,
  method: 'POST',
  path: '/oauth/revoke',
  summary: 'Revoke a token',
  handler: (context) =>
    answered(async () => {
      const { badCredentials, request } = context;
      badCredentials.check(request.address);
      badCredentials.count(request.address); // the response does not reveal whether the token existed
      const form = await readForm(context);
      const [value, clientId] = [form.get('token'), form.get('client_id')];
      if (!value || !clientId) throw new OAuthError('invalid_request', 'token and client_id are required');
      await context.db.acrossTenants((tx) => revokeToken(tx, value, clientId));
      return {};
    }),
});

/** CORS preflight responses for the endpoints that are open to all origins. */
export const preflights: readonly Route[] = [resourceMetadata, resourceMetadataOfMcp, serverMetadata, register, token, revoke].map(
  ({ path, method }) =>
    route({
      ...hidden,
      method: 'OPTIONS',
      path,
      summary: 'What other sites may send',
      handler: () =>
        empty(204, {
          ...OPEN_TO_ALL,
          'access-control-allow-methods': method,
          'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
          'access-control-max-age': '86400',
        }),
    }),
);

async function readForm({ request }: Context): Promise<Map<string, string>> {
  const bytes = await request.body?.read(FORM_BYTES);
  if (!bytes?.length)
    throw new OAuthError('invalid_request', `Send a form of at most ${FORM_BYTES} bytes as application/x-www-form-urlencoded`);
  const form = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(bytes.toString('utf8'))) {
    if (form.has(name)) throw new OAuthError('invalid_request', `${name.slice(0, 50)} was sent twice`);
    if (value.includes('\0')) throw new OAuthError('invalid_request', `${name.slice(0, 50)} contains NUL, which is not allowed`);
    form.set(name, value);
  }
  return form;
}
