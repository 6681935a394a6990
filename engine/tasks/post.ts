import { createHmac } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { request as http } from 'node:http';
import { request as https } from 'node:https';
import { BlockList, isIP } from 'node:net';

export interface Post {
  url: string;
  body: string;
  headers: Record<string, string>;
  /** Of all of it: name look-up, connection, answer. */
  limitMs: number;
  /** Addresses of this machine and of private networks are allowed. */
  allowPrivate: boolean;
  /** What a name stands for; the system's resolver unless given. */
  lookUp?: (name: string) => Promise<Address>;
}

interface Address {
  address: string;
  family: number;
}

/** Where a webhook must not lead: this machine, private and link-local networks (cloud metadata among them), and what is no single host. */
const CLOSED = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  CLOSED.addSubnet(network, prefix, 'ipv4');

const GLOBAL_V6 = new BlockList(); // everything else is local, mapped, translated or reserved
GLOBAL_V6.addSubnet('2000::', 3, 'ipv6');
const CLOSED_V6 = new BlockList();
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  CLOSED_V6.addSubnet(network, prefix, 'ipv6');

/** True for an address that a stranger may be sent to. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !CLOSED.check(address, 'ipv4');
  return isIP(address) === 6 && GLOBAL_V6.check(address, 'ipv6') && !CLOSED_V6.check(address, 'ipv6');
}

/**
 * Sends a POST and resolves with the status of the answer, whose body is not read. The address is looked up once, checked, and then used as it
 * is, so a name cannot change its meaning in between. Redirects are not followed. Throws when the address is refused or nothing answers in time.
 */
export async function post({ url, body, headers, limitMs, allowPrivate, lookUp = lookup }: Post): Promise<number> {
  const target = new URL(url);
  if (target.protocol !== 'https:' && target.protocol !== 'http:')
    throw new Error(`Cannot send to ${target.protocol} addresses: http or https is wanted`);
  const signal = AbortSignal.timeout(limitMs);
  const address = await within(signal, resolve(target.hostname.replace(/^\[|\]$/g, ''), lookUp));
  if (!allowPrivate && !isPublic(address.address))
    throw new Error('Cannot send to this address: it belongs to this machine or to a private network');
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
    // without a listener the connection is closed, and neither an answer nor an error is ever told
    request.once('upgrade', (response, socket) => {
      done(response.statusCode ?? 0);
      socket.destroy();
    });
    request.once('error', (error) => reject(signal.aborted ? new Error(`no answer within ${limitMs / 1000} s`) : error));
    request.end(body);
  });
}

/** `t=…` and `v1=…` let the receiver check that body and time are ours: HMAC-SHA256 over `<timestamp>.<body>`, hexadecimal. */
export function signature(secret: string, timestamp: number, body: string): string {
  return createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
}

async function resolve(host: string, lookUp: (name: string) => Promise<Address>): Promise<Address> {
  const family = isIP(host);
  return family ? { address: host, family } : lookUp(host);
}

function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((done, reject) => {
    signal.addEventListener('abort', () => reject(new Error('the name was not resolved in time')), { once: true });
    work.then(done, reject);
  });
}
