import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Settings } from '../../api/contract/settings.ts';
import type { Log } from '../ops/log.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import { openSpool, type Spool } from './spool.ts';

/*
 * SQL: hosts that look at the same moment must agree.
 * A share that is not mounted is an empty folder, and hosts whose settings differ have a spool each. So the place that LONGHAND_MEDIA names bears a
 * mark, and the database knows which: recordings are not put into a place without it, and not missed there. An API makes the mark when there is none
 * yet, and a new one in a new place, but only while nothing waits in the old place and no engine works on it.
 */

/** The spool of this installation, and of no other place. */
export interface OwnSpool extends Spool {
  /** Throws when no recording can be read from it now, whichever it is. */
  reachable(): Promise<void>;
}

const PATIENCE_MS = 3000; // with the database

type Place = Pick<Settings, 'LONGHAND_HOME' | 'LONGHAND_MEDIA' | 'S3_ENDPOINT'>;

/** Opens the spool for a process that only reads: an engine. */
export async function openOwnSpool(db: Db, settings: Place): Promise<OwnSpool> {
  const spool = await openSpool(settings);
  let mark: string | null = null; // none yet: nothing was accepted, or by the version before
  const reachable = async () => {
    const known = settings.LONGHAND_MEDIA ? readMark(db).catch(() => mark) : null; // a database that is away is no fault of the spool
    mark = await Promise.race([known, sleep(PATIENCE_MS, mark, { ref: false })]);
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

/** The mark of the place where recordings are; null when none was ever made. */
async function readMark(db: Db): Promise<string | null> {
  const [row] = await db.query<{ mark: string }>('*', `select convert_from(value, 'utf8') as mark from facts where name = 'spool'`);
  return row?.mark ?? null;
}

/** Marks the place unless recordings are in another one. `upload` is on its way to this place. */
async function makeMark(tx: Tx, spool: Spool, upload: string | null): Promise<{ mark: string } | { held: string }> {
  await tx.rows(`select pg_advisory_xact_lock(hashtextextended('mark of the spool', 0))`);
  const known = await tx.row<{ mark: string }>(`select convert_from(value, 'utf8') as mark from facts where name = 'spool'`);
  if (known && (await spool.marked(known.mark))) return known; // made a moment ago
  if (known && (await inUse(tx, upload))) return { held: known.mark };
  const mark = randomUUID();
  await spool.mark(mark);
  await tx.rows(
    `insert into facts (name, value) values ('spool', convert_to(?, 'utf8')) on conflict (name) do update set value = excluded.value`,
    [mark],
  );
  return { mark };
}

/** Something waits in the place that is known, is on its way there, or an engine that reads it well is alive. */
async function inUse(tx: Tx, upload: string | null): Promise<boolean> {
  const row = await tx.row<{ used: boolean }>(
    `select exists (select from transcriptions where media_key_sealed is not null and status in ('queued', 'processing'))
         or exists (select from upload_leases where lease_until > clock_timestamp() and id is distinct from ?::uuid)
         or exists (select from engines where last_poll > clock_timestamp() - interval '60 seconds' and trouble is null) as used`,
    [upload],
  );
  return row!.used;
}

function foreign({ LONGHAND_MEDIA: place }: Place, mark: string): Error {
  const cannot = new Error(
    `Cannot use ${place}: it lacks .longhand-${mark}, so it is not the spool of this installation. Mount the spool, or set LONGHAND_MEDIA to where it ` +
      `is. A new place is taken when nothing waits in the old one and no engine works on it. If the old one is lost, make .longhand-${mark} here`,
  );
  return Object.assign(cannot, { code: 'EIO' });
}
