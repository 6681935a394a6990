import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../../api/contract/settings.ts';
import type { Log } from '../ops/log.ts';
import { lockNamed } from '../postgres/locks.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import { openSpool } from './open.ts';
import type { Spool } from './spool.ts';

/*
 * SQL: hosts that check concurrently must agree.
 * A share that is not mounted is an empty folder, and hosts with different settings use different spools. Therefore the location in
 * LONGHAND_MEDIA contains an id that is also stored in the database: without it, no recording is written there or considered missing. An
 * API process creates the id if there is none, and a new one in a new location, but only while no recording waits in the old location and
 * no engine uses it.
 */

/** The spool of this installation, verified by its id. */
export interface OwnSpool extends Spool {
  /** Throws if no recording can be read at the moment. `current`: the spool's id, if the caller has just read it. */
  reachable(current?: { mark: string | null }): Promise<void>;
}

const PATIENCE_MS = 3000; // for the database

type Place = Pick<Settings, 'LONGHAND_HOME' | 'LONGHAND_MEDIA' | 'S3_ENDPOINT'>;

/** Opens the spool for a process that only reads: an engine. */
export async function openOwnSpool(db: Db, settings: Place): Promise<OwnSpool> {
  const spool = await openSpool(settings);
  let mark: string | null = null; // none yet: no recordings were accepted, or only by the previous version
  const ask = () => Promise.race([readMark(db).catch(() => mark), sleep(PATIENCE_MS, mark, { ref: false })]); // an unavailable database is not a fault of the spool
  const reachable = async (current?: { mark: string | null }) => {
    if (settings.LONGHAND_MEDIA) mark = current ? current.mark : await ask();
    if (!(await spool.marked(mark ?? '')) && mark) throw foreign(settings, mark);
  };
  return { ...spool, reachable };
}

/** Opens the spool for a process that accepts recordings: an API. */
export async function openReceivingSpool(db: Db, settings: Place, log: Log): Promise<OwnSpool> {
  const spool = await openOwnSpool(db, settings);
  if (!settings.LONGHAND_MEDIA) return spool;
  const own = async (upload: string | null) => {
    const mark = await readMark(db);
    if (mark && (await spool.marked(mark))) return;
    const made = await db.acrossTenants((tx) => makeMark(tx, spool, upload));
    if ('held' in made) throw foreign(settings, made.held);
    log.warn({ mark: made.mark }, 'LONGHAND_MEDIA is now the spool of this installation');
  };
  await own(null).catch((error) => log.error({ error }, 'the spool cannot be used; uploads are refused until it can'));
  return {
    ...spool,
    async create(id, extension) {
      await own(id);
      return spool.create(id, extension);
    },
    async writable() {
      await own(null);
      await spool.writable();
    },
  };
}

/** The id of the current spool; null if none was ever created. */
async function readMark(db: Db): Promise<string | null> {
  const [row] = await db.query<{ mark: string }>('*', `select convert_from(value, 'utf8') as mark from facts where name = 'spool'`);
  return row?.mark ?? null;
}

/** Writes an id to this place unless another one contains recordings. `upload` is the one about to be written here. */
async function makeMark(tx: Tx, spool: Spool, upload: string | null): Promise<{ mark: string } | { held: string }> {
  await lockNamed(tx, 'mark of the spool');
  const known = await tx.row<{ mark: string }>(`select convert_from(value, 'utf8') as mark from facts where name = 'spool'`);
  if (known && (await spool.marked(known.mark))) return known; // created a moment ago
  if (known && (await inUse(tx, upload))) return { held: known.mark };
  const mark = randomUUID();
  await spool.mark(mark);
  await tx.rows(
    `insert into facts (name, value) values ('spool', convert_to(?, 'utf8')) on conflict (name) do update set value = excluded.value`,
    [mark],
  );
  return { mark };
}

/** Whether the known place is in use: it contains recordings, an upload is on its way to it, or a live engine can read it. */
async function inUse(tx: Tx, upload: string | null): Promise<boolean> {
  const row = await tx.row<{ used: boolean }>(
    `select exists (select from transcriptions where media_key_sealed is not null and status in ('queued', 'processing'))
         or exists (select from upload_leases where lease_until > clock_timestamp() and id is distinct from ?::uuid)
         or exists (select from engines where role = 'engine' and last_poll > clock_timestamp() - interval '60 seconds' and trouble is null) as used`,
    [upload],
  );
  return row!.used;
}

function foreign({ LONGHAND_MEDIA: place }: Place, mark: string): Error {
  const cannot = new Error(
    `Cannot use ${place}: it lacks .longhand-${mark}, so it is not the spool of this installation. Mount the spool, or set LONGHAND_MEDIA to where it ` +
      `is. A new place is accepted when no recordings wait in the old one and no engine uses it. If the old one is lost, create .longhand-${mark} here`,
  );
  return Object.assign(cannot, { code: 'EIO' });
}
