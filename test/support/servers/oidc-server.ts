import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

export interface OidcServer {
  issuer: string;
  /** The next person to sign in, and faults of the token. */
  person: Person;
  /** Token requests as received. */
  asked: URLSearchParams[];
}

export interface Person {
  email?: string;
  email_verified?: boolean;
  /** The subject; derived from the e-mail address if omitted. */
  subject?: string;
  /** Override the correct values. */
  claims?: Record<string, unknown>;
  /** Sign with a key that is not published. */
  forged?: boolean;
  /** The person denies access at the provider. */
  refuses?: boolean;
  /** The e-mail address is only in the user information. */
  apart?: boolean;
}

export const CLIENT = { id: 'longhand', secret: 'a secret of the provider' };

/** A small OpenID Connect provider: discovery, keys, the authorization endpoint, tokens for codes with PKCE, user information. */
export async function startOidc(t: { teardown(after: () => unknown): void }): Promise<OidcServer> {
  const [{ publicKey, privateKey }, stranger] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const codes = new Map<string, URLSearchParams>();
  const state: OidcServer = { issuer: '', person: {}, asked: [] };
  const address = () => {
    const { email, email_verified } = state.person;
    return { ...(email && { email }), ...(email_verified !== undefined && { email_verified }) };
  };

  const subject = () => state.person.subject ?? `sub-${state.person.email?.toLowerCase()}`;

  const answers: Record<string, (query: URLSearchParams, body: string, authorization: string) => Promise<object | URL | null>> = {
    '/.well-known/openid-configuration': async () => ({
      issuer: state.issuer,
      authorization_endpoint: `${state.issuer}/authorize`,
      token_endpoint: `${state.issuer}/token`,
      userinfo_endpoint: `${state.issuer}/userinfo`,
      jwks_uri: `${state.issuer}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
    }),
    '/keys': async () => ({ keys: [jwk] }),
    '/authorize': async (query) => {
      const back = new URL(query.get('redirect_uri')!);
      back.searchParams.set('state', query.get('state')!);
      if (state.person.refuses) back.searchParams.set('error', 'access_denied');
      else {
        const code = randomBytes(16).toString('hex');
        codes.set(code, query);
        back.searchParams.set('code', code);
      }
      return back;
    },
    '/token': async (_query, body, authorization) => {
      const form = new URLSearchParams(body);
      state.asked.push(form);
      const begun = codes.get(form.get('code')!);
      codes.delete(form.get('code')!);
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      const secret =
        form.get('client_secret') ?? decodeURIComponent(Buffer.from(authorization.slice(6), 'base64').toString().split(':')[1] ?? '');
      if (!begun || begun.get('code_challenge') !== challenge || secret.replaceAll('+', ' ') !== CLIENT.secret) return null;
      const token = new SignJWT({ nonce: begun.get('nonce'), ...(state.person.apart ? {} : address()), ...state.person.claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'one' })
        .setIssuer((state.person.claims?.iss as string) ?? state.issuer)
        .setAudience((state.person.claims?.aud as string) ?? CLIENT.id)
        .setSubject(subject())
        .setIssuedAt()
        .setExpirationTime((state.person.claims?.exp as number) ?? '5 minutes');
      const id_token = await token.sign(state.person.forged ? stranger.privateKey : privateKey);
      return { access_token: 'access', token_type: 'Bearer', expires_in: 300, id_token };
    },
    '/userinfo': async () => ({ sub: subject(), ...address() }),
  };

  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, state.issuer);
    const answer = await answers[url.pathname]?.(url.searchParams, await text(request), request.headers.authorization ?? '');
    if (answer instanceof URL) response.writeHead(302, { location: answer.href }).end();
    else
      response
        .writeHead(answer ? 200 : 400, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer ?? { error: 'invalid_grant' }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  state.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return state;
}
