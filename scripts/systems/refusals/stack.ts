import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const ROOT = path.join(import.meta.dirname, '../../..');
const LONGHAND = path.join(ROOT, 'scripts/longhand');

export interface Stack {
  /** Ports of the service. */
  ports: { direct: number; nginx: number; HAProxy: number };
  key: string;
  /** Key of a workspace without minutes. */
  poorKey: string;
  stop(): Promise<void>;
}

/** Starts a Longhand that accepts files up to `mostBytes`, and nginx and HAProxy in front of it with the shipped configurations. */
export async function openStack(folder: string, mostBytes: number): Promise<Stack> {
  const [direct, nginx, haproxy] = await freePorts(3);
  const children: ChildProcess[] = [];
  const env = {
    ...process.env,
    ...{ LONGHAND_HOME: path.join(folder, 'state'), LONGHAND_METRICS: '127.0.0.1:0', LONGHAND_TRUST_PROXY: '127.0.0.1' },
    ...{ LONGHAND_LIMIT_MAX_FILE_BYTES: String(mostBytes), LONGHAND_RATE_LIMIT: '0', PORT: String(direct) },
  };
  const begin = (program: string, args: string[]): ChildProcess => {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    return child;
  };
  const shipped = (name: string, port: number): string => {
    const text = readFileSync(path.join(ROOT, 'scripts/deploy', name), 'utf8');
    writeFileSync(path.join(folder, name), text.replaceAll('8080', String(port)).replace(/808[12]/g, String(direct)));
    return path.join(folder, name);
  };
  const admin = async (...args: string[]) =>
    JSON.parse((await promisify(execFile)(LONGHAND, ['admin', ...args, '--json'], { env })).stdout);

  const service = begin(LONGHAND, ['up']);
  let printed = '';
  service.stdout!.on('data', (chunk) => (printed += chunk));
  while (!/^listening on/m.test(printed)) {
    if (service.exitCode !== null) throw new Error(`Longhand did not start:\n${printed}`);
    await sleep(200);
  }
  const workspace = (await admin('workspace', 'create', '--name', 'Poor', '--minutes', '0')).id;
  const member = (await admin('member', 'add', '--workspace', workspace, '--email', 'poor@example.com', '--role', 'owner')).id;
  const poor = await admin('key', 'create', '--workspace', workspace, '--member', member, '--scopes', 'uploads:write');
  begin('nginx', ['-p', folder, '-c', shipped('nginx.conf', nginx!), '-g', `daemon off; pid ${folder}/nginx.pid; error_log stderr;`]);
  begin('haproxy', ['-q', '-f', shipped('haproxy.cfg', haproxy!)]);
  await sleep(3_000); // until the health check of HAProxy has succeeded
  return {
    ports: { direct: direct!, nginx: nginx!, HAProxy: haproxy! },
    key: /lh_\w+/.exec(printed)![0],
    poorKey: poor.key,
    async stop() {
      for (const child of children.reverse()) {
        child.kill();
        if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve));
      }
    },
  };
}

/** Unused ports of this machine. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => net.createServer());
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ports.push((server.address() as net.AddressInfo).port);
  }
  for (const server of servers) server.close();
  return ports;
}
