import { BlockList, isIP } from 'node:net';

/** Parses `10.0.0.1, 192.168.0.0/16`. Throws if an entry is neither an address nor a network. */
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

/** The connection's address; if that is a trusted proxy, the last address in X-Forwarded-For that is not one. */
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
