import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { SETTING_NAMES, type Settings, withoutSecrets } from '../../api/contract/settings.ts';
import { type Db, openDb } from '../../db/postgres/orm.ts';
import { pendingMigrations } from '../../db/postgres/pending.ts';
import { requirePolicies } from '../../db/postgres/policies.ts';
import { compareSchema } from '../../db/postgres/schema.ts';
import { findMasterKeys } from '../../db/secrets/master-key.ts';
import { requireMasterKey } from '../../db/secrets/vault.ts';
import { openOwnSpool } from '../../db/spool/marker.ts';
import { openSpool } from '../../db/spool/open.ts';
import { findTools } from '../../engine/audio/ffmpeg/tools.ts';
import { configuredModels } from '../../engine/configured.ts';
import { checkGpu, LIBRARIES } from '../../engine/runtime/gpu.ts';
import { readMachine } from '../../engine/runtime/machine.ts';
import { memoryOf } from '../../engine/runtime/memory.ts';
import { builtFrom } from '../../models/choosing/catalogue.ts';
import { advice, unconsidered } from '../../models/choosing/choose.ts';
import { AUTO, findModel, listModels, verifyAll } from '../../models/store.ts';
import { databaseUrl } from './database.ts';
import { ENV_FILE, FROM_ENVIRONMENT, loadSettings } from './environment.ts';
import { openLocalPool } from './pool.ts';
import { sentence } from './sentence.ts';

interface Check {
  name: string;
  ok: boolean;
  found: string;
  /** Empty if there is nothing to do. */
  remedy: string;
}

interface SettingShown {
  setting: string;
  value: string;
  from: string;
}

const CLOCK_SECONDS = 2; // leases use the database's clock; logs and expiring keys use this machine's
const FREE_BYTES = 10e9; // five of the largest uploads
const MEMORY_BYTES = 1.9e9; // an engine with one thread, PostgreSQL, API
const TABLES = 'Undo manual changes in them, or restore the database from a backup.';

/** Runs every check. A failing check reports what was found and what to do; the others still run. */
export async function examine(): Promise<{ checks: Check[]; settings: SettingShown[] }> {
  const settings = loadSettings();
  const installed = await check(
    'models',
    () => models(settings),
    'Set LONGHAND_MODEL to an installed model; restore its files (git checkout -- models), or import it again.',
  );
  const checks = [
    await check('node', node, 'Use Node 20.19, 22 or 24; 24 where glibc is 2.38 or newer (Debian 13, Ubuntu 24.04).'),
    await check('memory', memory, 'Provide at least 4 GiB of memory.'),
    await check('ffmpeg', ffmpeg, 'Install ffmpeg (apt-get install ffmpeg), or set FFMPEG_PATH.'),
    installed,
    ...(settings.LONGHAND_MODELS ? [await check('routing', () => routing(settings), 'Correct LONGHAND_MODELS, or import the model.')] : []),
    await check(
      'device',
      () => device(settings),
      installed.ok ? 'Set LONGHAND_DEVICE=cpu, or install the drivers of the device.' : 'Follow what is said of the models first.',
    ),
    ...(await database(settings)),
    await check(
      'spool',
      () => spool(settings),
      settings.LONGHAND_MEDIA?.startsWith('s3://')
        ? 'Check the bucket in LONGHAND_MEDIA, S3_ENDPOINT, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION.'
        : 'Set LONGHAND_MEDIA to a folder that this account can write to, with space for uploads.',
    ),
  ];
  return { checks, settings: SETTING_NAMES.map((name) => shown(name, settings)) };
}

async function check(name: string, find: () => Promise<string>, remedy: string): Promise<Check> {
  try {
    return { name, ok: true, found: await find(), remedy: '' };
  } catch (error) {
    return { name, ok: false, found: sentence(error).replace(/\s+/g, ' '), remedy };
  }
}

async function node(): Promise<string> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const advice = major < 22 ? '; Node 20 is no longer maintained, 24 is recommended where glibc is 2.38 or newer' : '';
  if (major < 20 || (major === 20 && minor < 19)) throw new Error(`Node ${process.versions.node} is too old`);
  return `Node ${process.versions.node} on ${process.platform} ${process.arch}${advice}`;
}

async function memory(): Promise<string> {
  const { memoryBytes, cores } = readMachine();
  const found = `${(memoryBytes / 2 ** 30).toFixed(1)} GiB, ${cores} cores`;
  if (memoryBytes < MEMORY_BYTES) throw new Error(found);
  return found;
}

async function ffmpeg(): Promise<string> {
  const tools = await findTools();
  return `${tools.version} (${tools.ffmpeg})`;
}

async function models({ LONGHAND_HOME: home, LONGHAND_MODEL: wanted }: Settings): Promise<string> {
  if (wanted !== AUTO) await findModel(wanted, home);
  const [finding] = (await verifyAll(home)).flatMap(({ findings }) => findings);
  if (finding) throw new Error(finding);
  const all = await listModels(home);
  const better = advice(
    readMachine(),
    all.flatMap((model) => builtFrom(model)?.name ?? []),
  );
  const elsewhere = wanted === AUTO ? unconsidered(all, home) : '';
  return [`${all.map((model) => model.name).join(', ')}: checksums verified`, elsewhere, better].filter(Boolean).join('. ');
}

/** Which model recognises what, and the memory of all threads. */
async function routing(settings: Settings): Promise<string> {
  const { resident, others, routes } = await configuredModels(settings);
  const machine = readMachine();
  const loadable = Object.fromEntries(others.map(({ name, descriptor }) => [name, { descriptor: descriptor! }]));
  const { threads, bytes } = memoryOf(resident.descriptor!, loadable, machine, 'cpu', settings.LONGHAND_THREADS);
  const gib = (size: number) => `${(size / 2 ** 30).toFixed(1)} GiB`;
  const each = others.map(({ name, descriptor }) => {
    const codes = [...routes].filter(([, own]) => own === name).map(([code]) => code);
    return `${codes.join(', ')} by ${name} (${gib(descriptor!.memory.thread)} a thread while it is loaded)`;
  });
  const found = `${[...each, `${others.length ? 'all others' : 'all'} by ${resident.name}`].join('; ')}; ${threads} threads with up to ${gib(bytes)} of ${gib(machine.memoryBytes)}`;
  if (bytes > machine.memoryBytes) throw new Error(`${found}: that is more than there is; lower LONGHAND_THREADS or choose smaller models`);
  return found;
}

async function device(settings: Settings): Promise<string> {
  const pool = await openLocalPool({ ...settings, LONGHAND_THREADS: 1 });
  await pool.close();
  const gpu = pool.device === 'cpu' && existsSync(LIBRARIES) ? await checkGpu() : null; // installed but not used
  const why = gpu && `; ${gpu.usable ? await forGpu(settings) : `${gpu.found}. ${gpu.remedy}`}`;
  return `${pool.device} (LONGHAND_DEVICE=${settings.LONGHAND_DEVICE})${why ?? ''}`;
}

/** How to use a GPU that only lacks a model in its number format. */
async function forGpu(settings: Settings): Promise<string> {
  const { resident } = await configuredModels(settings);
  return `the GPU is usable: make a model for it with "longhand models import ${resident.name} --variant float16"`;
}

/** An embedded database that is not running is not a problem: `up` starts it. */
async function database(settings: Settings): Promise<Check[]> {
  const url = databaseUrl(settings);
  if (!url) return [{ name: 'database', ok: true, found: 'embedded PostgreSQL, not running: `up` starts it', remedy: '' }];
  const remedy = 'Start it, or correct DATABASE_URL; PostgreSQL 14 or newer is required.';
  const db = await openDb({ url, pool: 1, name: 'longhand-doctor' }).catch((error: Error) => error);
  if (db instanceof Error) return [{ name: 'database', ok: false, found: db.message, remedy }];
  try {
    return [
      await check('database', () => version(db), remedy),
      await check('schema', () => schema(db), 'Run scripts/longhand migrate.'),
      await check('tables', () => tables(db), TABLES),
      await check('master key', () => masterKey(db, settings), 'Restore it from your backup: see docs/backup.md.'),
      await check('installation', () => installation(db, settings), 'See docs/deployment.md, "Several hosts".'),
      await check('policies', () => policies(db), "Until this is fixed, workspaces are isolated only by the program's queries."),
      await check('clock', () => clock(db), 'Synchronise the clocks of this machine and of the database with NTP.'),
    ];
  } finally {
    await db.close();
  }
}

async function version(db: Db): Promise<string> {
  const row = await db.acrossTenants((tx) =>
    tx.row<{ name: string; number: string }>(
      `select current_setting('server_version') as name, current_setting('server_version_num') as number`,
    ),
  );
  if (Number(row!.number) < 140_000) throw new Error(`PostgreSQL ${row!.name} is too old`);
  return `PostgreSQL ${row!.name}`;
}

async function schema(db: Db): Promise<string> {
  const pending = await pendingMigrations(db);
  if (pending.length) throw new Error(`${pending.join(', ')} pending`);
  return 'up to date';
}

async function tables(db: Db): Promise<string> {
  if ((await pendingMigrations(db)).length) return 'not compared: migrations are pending';
  const wrong = (await compareSchema(db)).filter(({ wanted }) => wanted); // additions by a newer version are not a problem
  if (wrong.length)
    throw new Error(wrong.map(({ column, found, wanted }) => `${column} is ${found ?? 'missing'}, expected ${wanted}`).join('; '));
  return 'all columns as expected';
}

/** A key is created at the first start only: with a new one, everything in the database would be unreadable. */
async function masterKey(db: Db, settings: Settings): Promise<string> {
  if ((await pendingMigrations(db)).length) return 'not compared: migrations are pending';
  const keys = await findMasterKeys(settings);
  if (await requireMasterKey(db, keys ?? [])) return 'it is the one this database was written with';
  return keys ? 'nothing was encrypted with it yet' : 'it is created at the first start';
}

async function installation(db: Db, settings: Settings): Promise<string> {
  await (await openOwnSpool(db, settings)).reachable();
  return settings.LONGHAND_MEDIA ? 'LONGHAND_MEDIA is the spool of this database' : 'the spool is in the state folder';
}

async function policies(db: Db): Promise<string> {
  await requirePolicies(db);
  return 'row-level security is active';
}

async function clock(db: Db): Promise<string> {
  const before = Date.now();
  const row = await db.acrossTenants((tx) => tx.row<{ seconds: string }>('select extract(epoch from clock_timestamp()) as seconds'));
  const apart = Math.abs(Number(row!.seconds) - (before + Date.now()) / 2000);
  const found = `${apart.toFixed(1)} s apart from the database's clock`;
  if (apart > CLOCK_SECONDS) throw new Error(found);
  return found;
}

async function spool(settings: Settings): Promise<string> {
  await (await openSpool(settings)).writable();
  if (settings.LONGHAND_MEDIA?.startsWith('s3://')) return settings.LONGHAND_MEDIA;
  const { bavail, bsize } = await statfs(settings.LONGHAND_MEDIA ?? settings.LONGHAND_HOME);
  const found = `${((bavail * bsize) / 1e9).toFixed(0)} GB free`;
  if (bavail * bsize < FREE_BYTES) throw new Error(found);
  return found;
}

function shown(name: string, settings: Settings): SettingShown {
  const limit = /^LONGHAND_LIMIT_(.*)$/.exec(name)?.[1];
  const value = limit ? settings.limits[limit as keyof Settings['limits']] : settings[name as keyof Settings];
  const given = settings.given.includes(name);
  const from = !given ? 'default' : FROM_ENVIRONMENT.has(name) ? 'environment' : (ENV_FILE ?? 'environment');
  return { setting: name, value: withoutSecrets(name, String(value ?? '')), from };
}
