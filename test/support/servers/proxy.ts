import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../processes/processes.ts';

/** Writes the shipped configuration of nginx or HAProxy into a folder, for these ports of the proxy and of two hosts. Returns its path. */
export function writeProxyConfig(
  folder: string,
  file: 'nginx.conf' | 'haproxy.cfg',
  ports: { front: number; one: number; two: number },
): string {
  const config = path.join(folder, file);
  const shipped = readFileSync(path.join(ROOT, 'scripts', 'deploy', file), 'utf8');
  const { front, one, two } = ports;
  writeFileSync(config, shipped.replaceAll('8080', String(front)).replaceAll('8081', String(one)).replaceAll('8082', String(two)));
  return config;
}
