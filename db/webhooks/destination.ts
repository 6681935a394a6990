import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/**
 * Addresses that webhooks must not reach: this machine, private and link-local networks (including cloud metadata services), and ranges
 * that are not single hosts.
 */
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

/** Whether an address is on the public Internet. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !CLOSED.check(address, 'ipv4');
  return isIP(address) === 6 && GLOBAL_V6.check(address, 'ipv6') && !CLOSED_V6.check(address, 'ipv6');
}

const PATIENCE_MS = 2_000; // for resolving a name, while the creator of the webhook waits

/**
 * Whether deliveries to this URL would be refused at the moment. Its name may be given another address later, so it is resolved again for
 * every delivery.
 */
export async function leadsInside(url: string): Promise<boolean> {
  const name = new URL(url).hostname.replace(/^\[|\]$/g, '');
  if (isIP(name)) return !isPublic(name);
  const late = new Promise<null>((resolve) => setTimeout(resolve, PATIENCE_MS, null).unref());
  const found = await Promise.race([lookup(name).catch(() => null), late]);
  return found !== null && !isPublic(found.address);
}
