import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { operatorOf } from '../../api/contract/actor.ts';
import { SCOPES } from '../../api/contract/workspace.ts';
import { createKey } from '../../db/access/keys.ts';
import { startEmbedded } from '../../db/postgres/embedded.ts';
import { migrate } from '../../db/postgres/migrate.ts';
import { type Db, openDb } from '../../db/postgres/orm.ts';
import { loadMasterKeys } from '../../db/secrets/master-key.ts';
import { openVault, type Vault } from '../../db/secrets/vault.ts';
import { addMember } from '../../db/tenants/members.ts';
import { createWorkspace } from '../../db/tenants/workspaces.ts';
import { scratchFolder } from '../scratch.ts';

const LONGHAND = fileURLToPath(new URL('../../scripts/longhand', import.meta.url));
const TICKS = 100; // per second, in /proc

/** The API as in production, in its own process with its own database, without rate limits. */
export interface Service {
  url: string;
  /** Key of the owner with every scope. */
  key: string;
  workspaceId: string;
  memberId: string;
  /** Another key of the owner, because uploads are limited per key. */
  anotherKey(): Promise<string>;
  db: Db;
  vault: Vault;
  /** Resident memory of the API process, MB. */
  memory(): number;
  /** CPU time of the API process, seconds. */
  processor(): number;
}

/** Starts the service, runs `work` and cleans up. With `engine`, an engine runs beside it. */
export async function withService<T>(work: (service: Service) => Promise<T>, { engine = false } = {}): Promise<T> {
  const home = scratchFolder('bench');
  const postgres = await startEmbedded(join(home, 'postgres'));
  const db = await openDb({ url: postgres.url, name: 'longhand-bench' });
  const children: ChildProcess[] = [];
  process.once('exit', () => children.forEach((child) => void child.kill('SIGTERM'))); // after a signal
  const environment = {
    PATH: process.env.PATH,
    DATABASE_URL: postgres.url,
    LONGHAND_HOME: home,
    PORT: '0',
    LONGHAND_RATE_LIMIT: '0',
    LOG_LEVEL: 'error',
  };
  const start = async (part: string, ready: RegExp): Promise<{ pid: number; said: RegExpExecArray }> => {
    const child = spawn(LONGHAND, [part], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    const line = await Promise.race([once(child.stdout!, 'data').then(String), once(child, 'exit').then(() => '')]);
    const said = ready.exec(line);
    if (!said) throw new Error(`The ${part} did not start; see its message above`);
    return { pid: child.pid!, said };
  };
  try {
    await migrate(db);
    const vault = await openVault(db, await loadMasterKeys({ LONGHAND_HOME: home }));
    const { id: workspaceId } = await db.acrossTenants((tx) => createWorkspace(tx, vault, { name: 'Bench', minutes: 1_000_000 }));
    const operator = operatorOf(workspaceId);
    const { id: memberId } = await db.acrossTenants((tx) => addMember(tx, operator, { email: 'bench@example.com', role: 'owner' }));
    const anotherKey = async () => (await db.acrossTenants((tx) => createKey(tx, operator, { memberId, scopes: SCOPES }))).key;
    const key = await anotherKey();
    const { pid, said } = await start('api', /listening on (\S+)/);
    const url = said[1]!;
    if (engine) await start('engine', /^working/);
    const memory = () => Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024);
    const processor = () => {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
      return (Number(fields[11]) + Number(fields[12])) / TICKS;
    };
    return await work({ url, key, workspaceId, memberId, anotherKey, db, vault, memory, processor });
  } finally {
    for (const child of children.reverse()) if (child.kill('SIGTERM') && child.exitCode === null) await once(child, 'exit');
    await db.close();
    await postgres.stop();
    rmSync(home, { recursive: true, force: true });
  }
}
