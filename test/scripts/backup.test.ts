/* Follows docs/backup.md, word for word, on real servers and state folders. */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startEmbedded } from '../../db/postgres/embedded.ts';
import { migrate } from '../../db/postgres/migrate.ts';
import { openDb } from '../../db/postgres/orm.ts';
import { loadMasterKeys } from '../../db/secrets/master-key.ts';
import { openVault } from '../../db/secrets/vault.ts';
import { openSpool } from '../../db/spool/open.ts';
import { openWorld } from '../support/databases/world.ts';
import { addTiny, TINY } from '../support/engine/models.ts';
import { finish, freePort, LONGHAND, longhand, ROOT, start } from '../support/processes/processes.ts';
import { findProgram } from '../support/processes/programs.ts';
import { eventually } from '../support/processes/service.ts';

const GUIDE = readFileSync(join(ROOT, 'docs/backup.md'), 'utf8');
const WRONG_KEY = /the master key is not the one this database was written with/;
const TEXT = 'The rhinoceros signs on Friday.';
const turns = [{ start: 0, end: 4, speaker: 'speaker_1', text: TEXT }];

/** Runs one step of the guide exactly as printed. */
async function follow(step: string, env: Record<string, string>, checkout = ROOT): Promise<void> {
  const script = new RegExp(`<!-- step: ${step} -->\n\`\`\`sh\n([^]*?)\`\`\``).exec(GUIDE)?.[1];
  if (!script) throw new Error(`The guide has no step ${step}`);
  const { code, stdout, stderr } = await finish('bash', ['-e', '-u', '-c', script], env, checkout);
  if (code !== 0) throw new Error(`${step} ended with ${code}:\n${stdout}${stderr}`);
}

t.test('the steps of the guide use no cp -n, which fails for files that exist with coreutils 9.2 to 9.4', (t) => {
  t.notMatch(GUIDE, /\bcp -[a-z]*n/);
  t.end();
});

/** A folder that other accounts may traverse, as PostgreSQL requires. */
function folder(test: { teardown(after: () => unknown): void }): string {
  const path = mkdtempSync(join(tmpdir(), 'longhand-backup-'));
  execFileSync('chmod', ['711', path]);
  for (const name of ['backup', 'safe']) mkdirSync(join(path, name));
  test.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Fills a state folder as `up` does, without its processes: embedded PostgreSQL, spool and master key. Returns a transcript in it. */
async function stateFolder(home: string): Promise<{ id: string; key: string }> {
  const server = await startEmbedded(join(home, 'postgres'));
  try {
    await prepare(server.url);
    await openSpool({ LONGHAND_HOME: home });
    return await createTranscript(server.url, home);
  } finally {
    await server.stop();
  }
}

async function prepare(databaseUrl: string): Promise<void> {
  const db = await openDb({ url: databaseUrl, pool: 2, name: 'longhand-test' });
  await migrate(db).finally(() => db.close());
}

/** Creates a transcript encrypted with the master key of `home`. Returns its id and an API key that can read it. */
async function createTranscript(databaseUrl: string, home: string): Promise<{ id: string; key: string }> {
  const db = await openDb({ url: databaseUrl, pool: 2, name: 'longhand-test' });
  try {
    const world = openWorld(db, await openVault(db, await loadMasterKeys({ LONGHAND_HOME: home })));
    const owner = await world.member(await world.workspace({ name: 'Backed up' }), { role: 'owner' });
    const { key } = await world.key(owner);
    return { id: await world.transcription(owner, { filename: 'deal.wav', turns }), key };
  } finally {
    await db.close();
  }
}

/** Requests the text of a transcript from a running service. */
async function textOf(url: string, { id, key }: { id: string; key: string }): Promise<string> {
  const answer = await fetch(`${url}/v1/transcriptions/${id}`, { headers: { authorization: `Bearer ${key}` } });
  return ((await answer.json()) as { text: string }).text;
}

t.test('backup: a state folder is saved and restored; without the right master key the service refuses to start', async (t) => {
  const at = folder(t);
  const [home, restored] = [join(at, 'home'), join(at, 'restored')];
  const paths = { BACKUP: join(at, 'backup'), SAFE: join(at, 'safe') };
  const env = { PORT: '0', LOG_LEVEL: 'warn', LONGHAND_THREADS: '1', LONGHAND_MODEL: TINY };
  await addTiny(home);
  const talk = await stateFolder(home);
  writeFileSync(join(home, 'spool', 'a waiting recording'), 'sealed');

  await follow('save-home', { ...paths, LONGHAND_HOME: home });
  t.notMatch(
    execFileSync('tar', ['-tzf', join(at, 'backup/home.tgz')], { encoding: 'utf8' }),
    /master\.key/,
    'the key is stored separately',
  );
  rmSync(home, { recursive: true });
  await follow('restore-home', { ...paths, LONGHAND_HOME: restored });
  t.ok(readdirSync(join(restored, 'spool')).includes('a waiting recording'));

  const second = start(t, LONGHAND, ['up'], { ...env, LONGHAND_HOME: restored });
  const url = (await second.said(/^listening on (\S+)$/m))[1]!;
  t.match(await textOf(url, talk), TEXT);
  t.equal(await second.stop(), 0);

  rmSync(join(restored, 'master.key'));
  const { code, stdout, stderr } = await longhand(['up'], { ...env, LONGHAND_HOME: restored });
  t.match([code, stderr], [1, WRONG_KEY], 'a newly created key does not replace the lost one');
  t.notMatch(stdout, /listening/);
});

t.test('backup: settings that are not set have their defaults, and a spool or a key elsewhere is saved from there', async (t) => {
  const at = folder(t);
  const paths = { BACKUP: join(at, 'backup'), SAFE: join(at, 'safe') };
  const elsewhere = { LONGHAND_MEDIA: join(at, 'elsewhere'), LONGHAND_MASTER_KEY_FILE: join(at, 'key') };
  for (const name of ['checkout/.longhand/spool', 'restored', 'elsewhere']) mkdirSync(join(at, name), { recursive: true });
  writeFileSync(join(at, 'checkout/.longhand/master.key'), 'of the state folder');
  writeFileSync(join(at, 'checkout/.longhand/spool/waits'), 'sealed');
  writeFileSync(elsewhere.LONGHAND_MASTER_KEY_FILE, 'of another file');
  writeFileSync(join(elsewhere.LONGHAND_MEDIA, 'waits elsewhere'), 'sealed');
  await follow('save-home', paths, join(at, 'checkout'));
  t.equal(readFileSync(join(at, 'safe/master.key'), 'utf8'), 'of the state folder');
  await follow('restore-home', paths, join(at, 'restored'));
  t.equal(readFileSync(join(at, 'restored/.longhand/spool/waits'), 'utf8'), 'sealed');
  t.equal(readFileSync(join(at, 'restored/.longhand/master.key'), 'utf8'), 'of the state folder');

  await follow('save-home', { ...paths, ...elsewhere }, join(at, 'checkout'));
  t.equal(readFileSync(join(at, 'safe/master.key'), 'utf8'), 'of another file');
  await follow('save-spool', { ...paths, ...elsewhere });
  rmSync(elsewhere.LONGHAND_MEDIA, { recursive: true });
  await follow('restore-spool', { ...paths, ...elsewhere });
  t.strictSame(readdirSync(elsewhere.LONGHAND_MEDIA), ['waits elsewhere']);
  for (const missing of ['BACKUP', 'SAFE']) await t.rejects(follow('save-database', { ...paths, [missing]: '' }), `without ${missing}`);
});

/** Settings for the step save-database that dump nothing, with a key in the state folder. */
function withoutDatabase(at: string, home: string): Record<string, string> {
  const bin = join(at, 'bin');
  for (const name of [home, bin]) mkdirSync(name);
  writeFileSync(join(home, 'master.key'), 'key');
  writeFileSync(join(bin, 'pg_dump'), '#!/bin/sh\n', { mode: 0o755 });
  const paths = { BACKUP: join(at, 'backup'), SAFE: join(at, 'safe'), LONGHAND_HOME: home };
  return { ...paths, ADMIN_URL: '', PATH: `${bin}:${process.env.PATH}` };
}

t.test('backup: the spool may be a link to a folder on another disk, and its copy is closed to other accounts', async (t) => {
  const at = folder(t);
  const [home, disk, copy] = [join(at, 'home'), join(at, 'disk'), join(at, 'backup/spool')];
  const env = withoutDatabase(at, home);
  mkdirSync(disk);
  writeFileSync(join(disk, 'waits'), 'sealed');
  symlinkSync(disk, join(home, 'spool'));
  await follow('save-database', env);
  t.strictSame(readdirSync(copy), ['waits']);
  t.equal(statSync(copy).mode & 0o777, 0o700);
  rmSync(disk, { recursive: true });
  await t.rejects(follow('save-database', env), /save-database ended with 1/, 'the disk is not mounted');
});

t.test(
  'backup: recordings that are removed while the spool is copied do not fail the backup, and one that cannot be copied does',
  async (t) => {
    const at = folder(t);
    const [home, copy] = [join(at, 'home'), join(at, 'backup/spool')];
    const env = withoutDatabase(at, home);
    mkdirSync(join(home, 'spool'));
    const removed = Array.from({ length: 1000 }, (_, k) => join(home, 'spool', `removed ${k}`));
    for (const file of removed) writeFileSync(file, 'sealed'.repeat(10_000));
    writeFileSync(join(home, 'spool/stays'), 'sealed');
    const saving = follow('save-database', env);
    saving.catch(() => {}); // awaited below
    for (const end = Date.now() + 30_000; !(existsSync(copy) && readdirSync(copy).length) && Date.now() < end; ) await sleep(1);
    for (const file of removed) rmSync(file);
    await saving;
    t.ok(readdirSync(copy).includes('stays'));
    t.ok(readdirSync(copy).length < removed.length, 'some were removed before they were copied');

    mkdirSync(join(home, 'spool/odd')); // a folder that cannot replace a file
    writeFileSync(join(copy, 'odd'), '');
    await t.rejects(follow('save-database', env), /save-database ended with 1/);
  },
);

const POSTGRES = distribution();

t.test(
  'backup: an external PostgreSQL is dumped while it runs and restored on a new server',
  { skip: !POSTGRES && 'needs postgresql of the distribution' },
  async (t) => {
    const at = folder(t);
    const [home, restored] = [join(at, 'home'), join(at, 'restored')];
    const paths = { BACKUP: join(at, 'backup'), SAFE: join(at, 'safe'), PATH: `${POSTGRES}:${process.env.PATH}` };
    createData(join(at, 'old'));
    execFileSync('cp', ['-a', join(at, 'old'), join(at, 'new')]); // faster than to create it twice
    const old = await cluster(t, join(at, 'old'));
    await finish(join(POSTGRES!, 'psql'), [
      `${old}/postgres`,
      '-c',
      `create role longhand login createrole password 'x'`,
      '-c',
      'create database longhand owner longhand',
    ]);
    const asOwner = (server: string) => `${server.replace('postgres@', 'longhand:x@')}/longhand`;
    const before = { DATABASE_URL: asOwner(old), LONGHAND_HOME: home };
    mkdirSync(join(home, 'spool'), { recursive: true });
    await prepare(before.DATABASE_URL);
    const talk = await createTranscript(before.DATABASE_URL, home);
    writeFileSync(join(home, 'spool', 'waits'), 'sealed');
    await follow('save-database', { ...paths, ...before, ADMIN_URL: `${old}/longhand` });
    t.notMatch(readFileSync(join(at, 'backup/longhand.dump'), 'latin1'), TEXT);

    const fresh = await cluster(t, join(at, 'new'));
    const after = { DATABASE_URL: asOwner(fresh), LONGHAND_HOME: restored, LONGHAND_MEDIA: join(restored, 'spool') };
    await follow('restore-database', { ...paths, ...after, ADMIN_URL: `${fresh}/postgres`, NEW_ADMIN_URL: `${fresh}/longhand` });
    t.strictSame(readdirSync(after.LONGHAND_MEDIA), ['waits']);
    t.equal((await longhand(['migrate'], after)).code, 0);
    const api = start(t, LONGHAND, ['api'], { ...after, PORT: '0', LOG_LEVEL: 'warn' });
    const url = (await api.said(/^listening on (\S+)$/m))[1]!;
    t.match(await textOf(url, talk), TEXT);
    await api.stop();
    const db = await openDb({ url: after.DATABASE_URL, pool: 1, name: 'longhand-test' });
    const [row] = await db.query<{ role: string }>('*', 'select current_user as role');
    await db.close();
    t.equal(row!.role, 'longhand_app', 'row-level security applies to the service as before');

    writeFileSync(join(restored, 'master.key'), `${randomBytes(32).toString('base64')}\n`);
    const wrong = await longhand(['api'], { ...after, PORT: '0' });
    t.match([wrong.code, wrong.stderr], [1, WRONG_KEY]);
  },
);

/** Folder of the distribution's newest PostgreSQL programs; null if there are none. */
function distribution(): string | null {
  try {
    const versions = readdirSync('/usr/lib/postgresql').sort((a, b) => Number(b) - Number(a));
    const bin = join('/usr/lib/postgresql', versions[0]!, 'bin');
    return readdirSync(bin).includes('initdb') && findProgram('psql') ? bin : null;
  } catch {
    return null;
  }
}

/** Creates the data of a PostgreSQL server. */
function createData(data: string): void {
  const { account, options } = asPostgres();
  mkdirSync(data, { mode: 0o700 });
  if (account) chownSync(data, account.uid, account.gid);
  execFileSync(
    join(POSTGRES!, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '--encoding=UTF8', '--locale=C'],
    options,
  );
}

/** How PostgreSQL is run, which refuses to run as root. */
function asPostgres() {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const account = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : null;
  return { account, options: { ...account, cwd: '/', stdio: 'ignore' as const } };
}

/** Starts a separate PostgreSQL server; returns its superuser URL without a database. */
async function cluster(test: { teardown(after: () => unknown): void }, data: string): Promise<string> {
  const port = await freePort();
  const flags = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off'].flatMap((flag) => ['-c', flag]);
  const child = spawn(join(POSTGRES!, 'postgres'), ['-D', data, '-p', String(port), ...flags], asPostgres().options);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  test.teardown(() => {
    child.kill('SIGQUIT');
    return ended;
  });
  const url = `postgres://postgres@127.0.0.1:${port}`;
  const answers = async () => (await finish(join(POSTGRES!, 'psql'), [`${url}/postgres`, '-c', 'select 1'])).code === 0;
  await eventually(answers, `the start of the server in ${data}`);
  return url;
}
