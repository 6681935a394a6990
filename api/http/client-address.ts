import { BlockList, isIP } from 'node:net';

/** `10.0.0.1, 192.168.0.0/16` as a list of addresses. Throws when one is neither an address nor a network. */
export function trusted(setting: string | undefined): BlockList {
  const list = new BlockList();
  for (const entry of setting?.split(/[\s,]+/).filter(Boolean) ?? []) {
    const [address, bits] = entry.split('/');
    const family = isIP(address!) === 6 ? 'ipv6' : 'ipv4';
    if (!isIP(address!)) throw new Error(`Cannot trust the proxy ${entry} of LONGHAND_TRUST_PROXY: it is not an IP address or network`);
    if (bits === undefined) list.addAddress(address!, family);
    else list.addSubnet(address!, Number(bits), family);
  }
  return list;
}

/** The address of the connection; when that is a trusted proxy, the last one in X-Forwarded-For that is not. */
export function clientAddress(connection: string, forwarded: string | undefined, proxies: BlockList): string {
  const known = (address: string) => proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  let address = connection;
  for (const hop of forwarded?.split(',').reverse() ?? []) {
    if (!isIP(address) || !known(address)) return address;
    if (!isIP(hop.trim())) return address;
    address = hop.trim();
  }
  return address;
}
