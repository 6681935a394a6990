/* Addresses in settings. */

export const PORTS = 65_535;

/** Host and port of a listener, as `127.0.0.1:9464` or `[::1]:9464`; null when it is neither. Port 0 picks a free one. */
export function parseEndpoint(text: string): { host: string; port: number } | null {
  const [, v6, plain, port = ''] = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = v6 ?? plain;
  return host && Number(port) <= PORTS ? { host, port: Number(port) } : null;
}

/** Whether PostgreSQL's driver understands this address. */
export function isDatabaseUrl(text: string): boolean {
  try {
    const { protocol, hostname, username, password, pathname, searchParams, hash } = new URL(text);
    const [database = '', ...more] = decodeURIComponent(pathname).slice(1).split('/');
    decodeURIComponent(username + password); // throws on an unescaped %
    const reachable = hostname !== '' || searchParams.has('host');
    return /^postgres(ql)?:$/.test(protocol) && reachable && !more.length && !database.includes('@') && !hash;
  } catch {
    return false;
  }
}

/** Whether this is the URL of a service that is reached by HTTP. */
export function isWebUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
