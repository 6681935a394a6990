import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { type Embedded, startEmbedded } from '../../../db/postgres/embedded.ts';
import { openDb } from '../../../db/postgres/orm.ts';
import { noDisks, smallDisk } from '../../support/processes/disk.ts';
import { freePort } from '../../support/processes/processes.ts';

const root = mkdtempSync(path.join(tmpdir(), 'longhand-embedded-')); // mode 0700, like /root: not accessible to the account of PostgreSQL
const folder = path.join(root, 'postgres');
t.teardown(() => rmSync(root, { recursive: true, force: true }));

async function ask({ url }: Embedded, sql: string): Promise<object[]> {
  const db = await openDb({ url, pool: 1 });
  try {
    return await db.direct(sql);
  } finally {
    await db.close();
  }
}

function asSuperuser(server: Embedded, secret: string): Promise<object[]> {
  const url = new URL(server.url);
  Object.assign(url, { username: 'postgres', password: readFileSync(path.join(folder, secret), 'utf8') });
  return ask({ ...server, url: url.href }, 'select rolsuper from pg_roles where rolname = current_user');
}

t.test('startEmbedded() creates a database for an unprivileged owner, protected by a generated password', async (t) => {
  const server = await startEmbedded(folder);
  await ask(server, 'create table kept (x int)');
  t.strictSame(await ask(server, 'select rolsuper, rolbypassrls from pg_roles where rolname = current_user'), [
    { rolsuper: false, rolbypassrls: false },
  ]);
  t.equal(statSync(path.join(folder, 'password')).mode & 0o777, 0o600);
  await t.rejects(asSuperuser(server, 'password'), { code: '28P01' }, 'the superuser has a different password');
  t.match(await asSuperuser(server, 'superuser-password'), [{ rolsuper: true }]);
  const url = new URL(server.url);
  t.equal(url.hostname, '127.0.0.1');
  t.equal(url.password, readFileSync(path.join(folder, 'password'), 'utf8'));
  url.password = 'wrong';
  await t.rejects(ask({ ...server, url: url.href }, 'select 1'));
  await server.stop();
  t.not(server.process.exitCode, null);
});

t.test('startEmbedded() takes another port if a program takes the first one before the server does', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.teardown(() => other.close());
  await once(other, 'listening');
  const { port: taken } = other.address() as AddressInfo;
  const ports = [taken, await freePort()];
  const server = await startEmbedded(folder, { durable: false }, async () => ports.shift()!);
  t.teardown(() => server.stop());
  t.not(new URL(server.url).port, String(taken));
  t.match(await ask(server, 'select 1 as one'), [{ one: 1 }]);
});

t.test('startEmbedded() gives the superuser of an older cluster a generated password', async (t) => {
  const server = await startEmbedded(folder);
  const old = new URL(server.url);
  Object.assign(old, { username: 'postgres', password: readFileSync(path.join(folder, 'superuser-password'), 'utf8') });
  await ask({ ...server, url: old.href }, `alter role postgres password '${new URL(server.url).password}'`);
  await server.stop();
  rmSync(path.join(folder, 'superuser-password'));
  const mended = await startEmbedded(folder);
  await t.rejects(asSuperuser(mended, 'password'), { code: '28P01' });
  t.match(await asSuperuser(mended, 'superuser-password'), [{ rolsuper: true }]);
  await mended.stop();
});

t.test('startEmbedded() stops a server that outlived its program, and keeps its committed data', async (t) => {
  const orphan = await startEmbedded(folder);
  await ask(orphan, 'insert into kept values (1)');
  const server = await startEmbedded(folder);
  t.not(orphan.process.exitCode ?? orphan.process.signalCode, null);
  t.strictSame(await ask(server, 'select x from kept'), [{ x: 1 }]);
  server.process.kill('SIGQUIT');
  await new Promise((resolve) => server.process.once('exit', resolve));
  for (const lock of [`${process.pid}\n`, '']) {
    writeFileSync(path.join(folder, 'data', 'postmaster.pid'), lock); // as after a power failure: the PID now belongs to another program
    const again = await startEmbedded(folder);
    t.strictSame(await ask(again, 'select x from kept'), [{ x: 1 }]);
    await again.stop();
  }
});

if (process.getuid?.() === 0)
  t.test('startEmbedded() takes over the data of a backup from a machine where its account had another id', async (t) => {
    execFileSync('chown', ['-R', '23456:23456', path.join(folder, 'data')]);
    const server = await startEmbedded(folder);
    t.strictSame(await ask(server, 'select x from kept'), [{ x: 1 }]);
    await server.stop();
    chownSync(folder, 23456, 23456);
    execFileSync('chown', ['-R', '23456:23456', path.join(folder, 'data')]);
    await t.rejects(startEmbedded(folder), /wrong ownership/, 'the folder of another account stays as it is');
    t.equal(statSync(path.join(folder, 'data')).uid, 23456);
  });

t.test('startEmbedded() starts after a first attempt on a full disk', { skip: noDisks() ?? false }, async (t) => {
  const disk = smallDisk(t, 100_000_000);
  disk.fill(0);
  const there = path.join(disk.path, 'postgres');
  await t.rejects(startEmbedded(there), { code: 'ENOSPC' });
  disk.empty();
  const server = await startEmbedded(there);
  t.strictSame(await ask(server, 'select 1 as one'), [{ one: 1 }]);
  await server.stop();
});

t.test('startEmbedded() reports why it cannot start', async (t) => {
  const broken = path.join(root, 'broken');
  mkdirSync(path.join(broken, 'data'), { recursive: true });
  writeFileSync(path.join(broken, 'data', 'PG_VERSION'), '9\n');
  await t.rejects(startEmbedded(broken), /Cannot start the embedded PostgreSQL: it exited with \d/);
});
