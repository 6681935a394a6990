import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDb } from '../../db/postgres/orm.ts';
import { freePort, start } from './processes.ts';
import { eventually } from './service.ts';

/** Starts PgBouncer in transaction mode in front of the server of `url`, with at most `servers` connections to it. Returns the address through it. */
export async function startBouncer(
  t: { teardown(after: () => unknown): void },
  program: string,
  url: string,
  servers: number,
): Promise<string> {
  const { hostname, port, username, password } = new URL(url);
  const folder = mkdtempSync(join(tmpdir(), 'longhand-bouncer-'));
  chmodSync(folder, 0o755); // root switches to another account
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const own = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${port || 5432} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 2000
default_pool_size = ${servers}
reserve_pool_size = 0
ignore_startup_parameters = extra_float_digits,options
`,
  );
  const running = start(t, program, [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), file]);
  const through = new URL(url);
  Object.assign(through, { hostname: '127.0.0.1', port: String(own) });
  await eventually(async () => {
    if (running.child.exitCode !== null) throw new Error(`PgBouncer ended: ${running.output.stderr}`);
    const db = await openDb({ url: through.href, pool: 1 });
    return db
      .query('*', 'select 1')
      .then(
        () => true,
        () => false,
      )
      .finally(() => db.close());
  }, 'PgBouncer to answer');
  return through.href;
}
