import { createHmac } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { request as http } from 'node:http';
import { request as https } from 'node:https';
import { isIP } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { isPublic } from '../../db/webhooks/destination.ts';

export interface Post {
  url: string;
  body: string;
  headers: Record<string, string>;
  /** For everything: name resolution, connection and response. */
  limitMs: number;
  /** Allow addresses of this machine and of private networks. */
  allowPrivate: boolean;
  /** Resolves a host name; default: the system's resolver. */
  lookUp?: (name: string) => Promise<Address>;
}

interface Address {
  address: string;
  family: number;
}

/**
 * Sends a POST and resolves with the response's status; the body is not read. The address is resolved once, checked and then used as is,
 * which prevents DNS rebinding. Redirects are not followed. Throws if the address is refused or no response arrives in time.
 */
export async function post({ url, body, headers, limitMs, allowPrivate, lookUp = lookup }: Post): Promise<number> {
  const target = new URL(url);
  if (target.protocol !== 'https:' && target.protocol !== 'http:')
    throw new Error(`Cannot send to ${target.protocol} addresses: use http or https`);
  const signal = AbortSignal.timeout(limitMs);
  const address = await within(signal, resolve(target.hostname.replace(/^\[|\]$/g, ''), lookUp));
  if (!allowPrivate && !isPublic(address.address))
    throw new Error('Cannot send to this address: it belongs to this machine or a private network');
  const send = target.protocol === 'https:' ? https : http;
  return new Promise((done, reject) => {
    const request = send(target, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
      signal,
      agent: false,
      lookup: (_name, options, callback) => (options.all ? callback(null, [address]) : callback(null, address.address, address.family)),
    });
    request.once('response', (response) => {
      done(response.statusCode ?? 0);
      response.destroy();
    });
    // without a listener Node closes the connection and emits neither a response nor an error
    request.once('upgrade', (response, socket) => {
      done(response.statusCode ?? 0);
      socket.destroy();
    });
    request.once('error', (error) => reject(signal.aborted ? new Error(`no response within ${limitMs / 1000} s`) : error));
    request.end(body);
  });
}

/** `t=…` and `v1=…` let the receiver verify body and time: HMAC-SHA256 over `<timestamp>.<body>`, hexadecimal. */
export function signature(secret: string, timestamp: number, body: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
}

/** The value of `webhook-signature` in the Standard Webhooks specification. `timestamp` in seconds since 1970. */
export function standardSignature(secret: string, id: string, timestamp: number, body: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64'); // also accepts base64url, which older secrets use
  return new Webhook(key, { format: 'raw' }).sign(id, new Date(timestamp * 1000), body);
}

async function resolve(host: string, lookUp: (name: string) => Promise<Address>): Promise<Address> {
  const family = isIP(host);
  return family ? { address: host, family } : lookUp(host);
}

function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((done, reject) => {
    signal.addEventListener('abort', () => reject(new Error('the host name was not resolved in time')), { once: true });
    work.then(done, reject);
  });
}
