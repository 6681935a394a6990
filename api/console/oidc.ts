import { jwtVerify, SignJWT } from 'jose';
import * as oidc from 'openid-client';
import type { ProviderIdentity } from '../../db/access/sign-in.ts';
import type { Settings } from '../contract/settings.ts';

/** What must come back as it went out, in a cookie of the browser that asked. */
export interface Asked {
  state: string;
  nonce: string;
  /** Of PKCE. */
  verifier: string;
  /** Where the person wanted to go. */
  next: string;
}

interface Provider {
  issuer: URL;
  id: string;
  secret: string;
}

/** The provider that the operator set; null when one of OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET is missing. */
function provider({ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret }: Settings): Provider | null {
  return issuer && id && secret ? { issuer: new URL(issuer), id, secret } : null;
}

/** What people call the provider. */
export function providerName(settings: Settings): { name: string } | null {
  const found = provider(settings);
  return found && { name: found.issuer.hostname };
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const SECONDS = 600; // from start to callback
const discovered = new Map<string, Promise<oidc.Configuration>>();

/** The provider's metadata, asked for once; again after a failure. Throws without a provider, and for http beyond this machine. */
function configuration(settings: Settings): Promise<oidc.Configuration> {
  const found = provider(settings);
  if (!found) throw new Error('Cannot sign in by OpenID Connect: OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET are not all set');
  const { issuer, id, secret } = found;
  const plain = issuer.protocol === 'http:';
  if (plain && !LOOPBACK.has(issuer.hostname)) throw new Error(`Cannot trust OIDC_ISSUER ${issuer.href}: https is wanted`);
  const name = `${issuer.href} ${id}`;
  const known = discovered.get(name);
  if (known) return known;
  const checks = [oidc.enableNonRepudiationChecks, ...(plain ? [oidc.allowInsecureRequests] : [])];
  const asked = oidc.discovery(issuer, id, secret, undefined, { execute: checks, timeout: 10 });
  discovered.set(name, asked);
  asked.catch(() => discovered.delete(name));
  return asked;
}

/** Where to send the browser, and what to ask of it when it comes back. */
export async function begin(settings: Settings, redirectUri: string, next: string): Promise<{ url: string; asked: Asked }> {
  const config = await configuration(settings);
  const asked = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier(), next };
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid email profile',
    state: asked.state,
    nonce: asked.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(asked.verifier),
    code_challenge_method: 'S256',
  });
  return { url: url.href, asked };
}

/**
 * The person who came back. Throws when state, nonce, signature, audience or time are wrong, and `Unverified` without a verified address. A provider that never says
 * whether it verified one is believed only where OIDC_UNVERIFIED_EMAIL says so.
 */
export async function returnedPerson(settings: Settings, returned: URL, asked: Asked): Promise<ProviderIdentity> {
  const config = await configuration(settings);
  const tokens = await oidc.authorizationCodeGrant(config, returned, {
    pkceCodeVerifier: asked.verifier,
    expectedState: asked.state,
    expectedNonce: asked.nonce,
    idTokenExpected: true,
  });
  const claims = tokens.claims()!;
  const person = claims.email === undefined ? await oidc.fetchUserInfo(config, tokens.access_token, claims.sub) : claims;
  const silent = person.email_verified === undefined && settings.OIDC_UNVERIFIED_EMAIL === 'trust_and_risk_impersonation';
  if (typeof person.email !== 'string' || !(person.email_verified === true || silent)) throw new Unverified();
  return { issuer: claims.iss, subject: claims.sub, email: person.email };
}

/** The provider does not vouch for the address. */
export class Unverified extends Error {}

/** A value for a cookie: signed, good for ten minutes, on every host that has the same client secret. `purpose` keeps one from passing for another. */
export async function pack(settings: Settings, purpose: 'asked' | 'person', value: object): Promise<string> {
  const claims = new SignJWT({ ...value }).setProtectedHeader({ alg: 'HS256' }).setExpirationTime(`${SECONDS} s`);
  return claims.sign(signingKey(settings, purpose));
}

/** Throws when the value is not ours, for another purpose or too old. */
export async function unpack<T extends object>(settings: Settings, purpose: 'asked' | 'person', value: string): Promise<T> {
  const options = { algorithms: ['HS256'], requiredClaims: ['exp'] };
  const { payload } = await jwtVerify<T>(value, signingKey(settings, purpose), options);
  return payload;
}

function signingKey(settings: Settings, purpose: string): Uint8Array {
  return new TextEncoder().encode(`longhand-oidc-${purpose}|${provider(settings)?.secret ?? ''}`);
}
