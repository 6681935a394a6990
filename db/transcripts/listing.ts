import type { Actor } from '../../api/contract/actor.ts';
import type { Status, Transcription } from '../../api/contract/transcription.ts';
import { FRACTION, STAGE } from '../jobs/leases.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Hit } from '../search/hits.ts';
import type { SaidTurn } from '../search/said.ts';
import type { Vault } from '../secrets/vault.ts';
import type { ListQuery } from './filter.ts';
import { listFound, type Search } from './found.ts';
import { listItems } from './list.ts';
import type { Item } from './list-row.ts';
import type { Totals } from './totals.ts';

/* SQL: what a row tells beside the item, of a page at once. */

/** A transcription as the console lists it. */
export interface Row extends Item {
  status: Status;
  error_code: string | null;
  /** How the transcript begins; null: nobody speaks, or there is none yet. */
  opening: string | null;
  progress: Transcription['progress'] | null;
  /** Estimated time to the transcript; null: unknown, or it is there. */
  seconds_left: number | null;
  /** Where the words that were searched for are said. */
  hits: Hit[];
}

const OPENING = 160; // characters
const MEASURED = 20; // transcriptions from which the pace is known
const EARLY = 0.05; // of the work: before, elapsed time says little

interface More {
  id: string;
  workspace_id: string;
  status: Status;
  error_code: string | null;
  stage: NonNullable<Transcription['progress']>['stage'];
  fraction: number;
  running: number | null;
  duration: number | null;
  ahead: number;
  turns_sealed: Buffer | null;
}

/** One page of what the actor sees, within all filters and, if given, a search. */
export async function listRows(tx: Tx, vault: Vault, totals: Totals, actor: Actor, query: ListQuery, search: Search | null) {
  const page = search ? await listFound(tx, vault, totals, actor, query, search) : await listItems(tx, vault, totals, actor, query);
  const ids = page.items.map(({ id }) => id);
  const more = new Map((ids.length ? await readMore(tx, actor, ids) : []).map((each) => [each.id, each]));
  const open = [...more.values()].some(({ status }) => status === 'queued' || status === 'processing');
  const pace = open ? await readPace(tx, actor) : null;
  const rows = page.items.map((item) => toRow(vault, item, more.get(item.id)!, pace));
  return { items: await Promise.all(rows), total: page.total };
}

function readMore(tx: Tx, { workspaceId }: Actor, ids: readonly string[]): Promise<More[]> {
  return tx.rows<More>(
    `select t.id, t.workspace_id, t.status, t.error_code, ${STAGE} as stage, ${FRACTION} as fraction, t.duration_seconds as duration,
       extract(epoch from clock_timestamp() - t.started_at)::float8 as running, s.turns_sealed,
       case when t.status in ('queued', 'processing') then (select coalesce(sum(o.duration_seconds), 0) from transcriptions o
         where o.workspace_id = t.workspace_id and o.status in ('queued', 'processing') and o.created_at < t.created_at) else 0 end as ahead
     from transcriptions t left join segments s on s.workspace_id = t.workspace_id and s.transcription_id = t.id and s.block = 0
     where t.workspace_id = ?::uuid and t.id = any (?::uuid[])`,
    [workspaceId, ids],
  );
}

interface Pace {
  /** Seconds of audio per second of work on one file. */
  speed: number;
  /** Files at once. */
  concurrency: number;
}

/** How fast the latest transcriptions of the workspace were; null: there are none. */
async function readPace(tx: Tx, { workspaceId }: Actor): Promise<Pace | null> {
  const row = await tx.row<{ speed: number | null; concurrency: number }>(
    `select w.concurrency, (select sum(c.duration_seconds) / nullif(sum(extract(epoch from c.completed_at - c.started_at)), 0) from
       (select t.duration_seconds, t.completed_at, t.started_at from transcriptions t where t.workspace_id = w.id and t.status = 'completed'
          and t.completed_at > t.started_at order by t.created_at desc limit ${MEASURED}) c)::float8 as speed
     from workspaces w where w.id = ?::uuid`,
    [workspaceId],
  );
  return row?.speed ? { speed: row.speed, concurrency: row.concurrency } : null;
}

async function toRow(vault: Vault, item: Item & { hits?: Hit[] }, more: More, pace: Pace | null): Promise<Row> {
  const open = more.status === 'queued' || more.status === 'processing';
  return {
    ...item,
    hits: item.hits ?? [],
    status: more.status,
    error_code: more.status === 'failed' ? more.error_code : null,
    opening: more.status === 'completed' ? await openingOf(vault, more) : null,
    progress: open ? { stage: more.stage, fraction: more.fraction } : null,
    seconds_left: open ? estimate(more, pace) : null,
  };
}

async function openingOf(vault: Vault, { id, workspace_id, turns_sealed }: More): Promise<string | null> {
  if (!turns_sealed) return null;
  const turns: SaidTurn[] = JSON.parse((await vault.open(workspace_id, `segments|${id}:0|turns`, turns_sealed)).toString());
  let text = '';
  for (const turn of turns) {
    text = `${text} ${turn.text}`.trim();
    if (text.length > OPENING) break;
  }
  return text.length > OPENING ? `${text.slice(0, text.lastIndexOf(' ', OPENING)).trim()}…` : text || null;
}

/** From the work that is done, else from the pace and the audio that waits before it. */
function estimate({ status, fraction, running, duration, ahead }: More, pace: Pace | null): number | null {
  if (status === 'processing' && running !== null && fraction > EARLY) return Math.ceil((running * (1 - fraction)) / fraction);
  if (duration === null || !pace) return null;
  const waits = status === 'queued' ? Number(ahead) / pace.concurrency : 0;
  return Math.ceil((waits + duration) / pace.speed);
}
