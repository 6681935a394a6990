import { BlockList, isIP } from 'node:net';

/** Parses `10.0.0.1, 192.168.0.0/16`. Throws if an entry is neither an address nor a network. */
export function trusted(setting: string | undefined): BlockList {
  const list = new BlockList();
  for (const entry of setting?.split(/[\s,]+/).filter(Boolean) ?? []) {
    const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
    const [family, most] = isIP(address) === 6 ? (['ipv6', 128] as const) : (['ipv4', 32] as const);
    if (!isIP(address) || Number(bits ?? 0) > most)
      throw new Error(`Cannot trust the proxy ${entry} of LONGHAND_TRUST_PROXY: it is not an IP address or network`);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** The connection's address; if that is a trusted proxy, the last address in X-Forwarded-For that is not one. */
export function clientAddress(connection: string, forwarded: string | undefined, proxies: BlockList): string {
  const known = (address: string) => proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  let address = unmapped(connection);
  for (const hop of forwarded?.split(',').reverse() ?? []) {
    if (!isIP(address) || !known(address)) return address;
    const next = withoutPort(hop.trim());
    if (!isIP(next)) return address;
    address = unmapped(next);
  }
  return address;
}

/** Some proxies, such as Azure's Application Gateway, add the client's port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const [, ipv6, ipv4] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(hop) ?? [];
  return ipv6 ?? ipv4 ?? hop;
}

/** The IPv4 address that a socket for both versions reports as IPv6 (::ffff:7f00:1, in any spelling); other addresses unchanged. */
export function unmapped(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = groupsOf(address);
  if (groups[5] !== 0xffff || groups.slice(0, 5).some((group) => group !== 0)) return address;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}

/** The eight groups of 16 bits of an IPv6 address. */
export function groupsOf(address: string): number[] {
  const [head = [], tail] = address.replace(/%.*$/, '').split('::').map(readGroups);
  return tail ? [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail] : head;
}

/** Groups between colons; the last two may be written as an IPv4 address. */
function readGroups(text: string): number[] {
  return (text ? text.split(':') : []).flatMap((group) => {
    const bytes = group.split('.').map(Number);
    return bytes.length === 4 ? [bytes[0]! * 256 + bytes[1]!, bytes[2]! * 256 + bytes[3]!] : [Number.parseInt(group, 16)];
  });
}
