import { isIP } from 'node:net';
import { groupsOf, unmapped } from '../http/client-address.ts';

const NETWORK_GROUPS = 4; // groups of 16 bits: the /64 assigned to one customer

/**
 * The network that an address is counted by: the /64 of an IPv6 address, because one person has all its 2^64 addresses; other addresses
 * unchanged.
 */
export function networkOf(address: string): string {
  const plain = unmapped(address);
  if (isIP(plain) !== 6) return plain;
  const groups = groupsOf(plain).slice(0, NETWORK_GROUPS);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}
