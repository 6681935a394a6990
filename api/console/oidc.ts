import { jwtVerify, SignJWT } from 'jose';
import * as oidc from 'openid-client';
import type { ProviderIdentity } from '../../db/access/sign-in.ts';
import type { Settings } from '../contract/settings.ts';

/** Sign-in state that must be returned unchanged, stored in a cookie of the browser. */
export interface Asked {
  state: string;
  nonce: string;
  /** PKCE verifier. */
  verifier: string;
  /** The page the person wanted. */
  next: string;
}

interface Provider {
  issuer: URL;
  id: string;
  secret: string;
}

/** The configured provider; null if OIDC_ISSUER, OIDC_CLIENT_ID or OIDC_CLIENT_SECRET is missing. */
function provider({ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret }: Settings): Provider | null {
  return issuer && id && secret ? { issuer: new URL(issuer), id, secret } : null;
}

/** Display name of the provider. */
export function providerName(settings: Settings): { name: string } | null {
  const found = provider(settings);
  return found && { name: found.issuer.hostname };
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const SECONDS = 600; // from start to callback
const discovered = new Map<string, Promise<oidc.Configuration>>();

/** The provider's metadata, fetched once, and again after a failure. Throws without a provider, and for http except on localhost. */
function configuration(settings: Settings): Promise<oidc.Configuration> {
  const found = provider(settings);
  if (!found) throw new Error('Cannot sign in by OpenID Connect: OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET are not all set');
  const { issuer, id, secret } = found;
  const plain = issuer.protocol === 'http:';
  if (plain && !LOOPBACK.has(issuer.hostname)) throw new Error(`Cannot trust OIDC_ISSUER ${issuer.href}: use https`);
  const name = `${issuer.href} ${id}`;
  const known = discovered.get(name);
  if (known) return known;
  const checks = [oidc.enableNonRepudiationChecks, ...(plain ? [oidc.allowInsecureRequests] : [])];
  const asked = oidc.discovery(issuer, id, secret, undefined, { execute: checks, timeout: 10 });
  discovered.set(name, asked);
  asked.catch(() => discovered.delete(name));
  return asked;
}

/** The authorization URL, and the state to verify on return. */
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
 * The person who returned. Throws if state, nonce, signature, audience or time are invalid, and `Unverified` without a verified address. A
 * provider that never states whether an address is verified is trusted only if OIDC_UNVERIFIED_EMAIL allows it.
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

/** The provider does not confirm the address. */
export class Unverified extends Error {}

/**
 * A signed cookie value, valid for ten minutes, on every host with the same client secret. `purpose` prevents one kind from being used as
 * another.
 */
export async function pack(settings: Settings, purpose: 'asked' | 'person', value: object): Promise<string> {
  const claims = new SignJWT({ ...value }).setProtectedHeader({ alg: 'HS256' }).setExpirationTime(`${SECONDS} s`);
  return claims.sign(signingKey(settings, purpose));
}

/** Throws if the value is not ours, was signed for another purpose, or has expired. */
export async function unpack<T extends object>(settings: Settings, purpose: 'asked' | 'person', value: string): Promise<T> {
  const options = { algorithms: ['HS256'], requiredClaims: ['exp'] };
  const { payload } = await jwtVerify<T>(value, signingKey(settings, purpose), options);
  return payload;
}

function signingKey(settings: Settings, purpose: string): Uint8Array {
  return new TextEncoder().encode(`longhand-oidc-${purpose}|${provider(settings)?.secret ?? ''}`);
}
