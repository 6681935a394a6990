import { type Actor, requireOwner } from '../../api/contract/actor.ts';
import type { Tx } from '../postgres/orm.ts';

export const USAGE_BY = ['day', 'key', 'project'] as const;
export type UsageBy = (typeof USAGE_BY)[number];

/** Minutes charged for one day, key or project. */
export interface Usage {
  /** YYYY-MM-DD, or the id of the key or project; null: none, as for uploads in the console or outside projects. */
  [by: string]: string | number | null;
  recordings: number;
  minutes: number;
}

const GROUPS: Record<UsageBy, string> = {
  day: `to_char(l.created_at at time zone 'utc', 'YYYY-MM-DD')`,
  key: 'coalesce(l.key_id, t.key_id)::text', // the recording may be deleted, and older charges have no key
  project: 'coalesce(l.project_id, t.project_id)::text',
};

/** SQL: totals. What a workspace was charged from one day to another, both included, UTC, by day, key or project. */
export async function usage(tx: Tx, actor: Actor, { by, from, to }: { by: UsageBy; from?: string; to?: string }): Promise<Usage[]> {
  requireOwner(actor);
  const rows = await tx.rows<{ group: string | null; recordings: number; minutes: number }>(
    `select ${GROUPS[by]} as group, count(*)::int as recordings, round(- sum(l.minutes), 2)::float8 as minutes
     from ledger l left join transcriptions t on t.id = l.transcription_id and t.workspace_id = l.workspace_id
     where l.workspace_id = ?::uuid and l.minutes < 0 and l.transcription_id is not null
       and l.created_at >= coalesce(?::date, '-infinity'::date)::timestamp at time zone 'utc'
       and l.created_at < (coalesce(?::date, '9999-12-30'::date) + 1)::timestamp at time zone 'utc'
     group by 1 order by ${by === 'day' ? '1' : '3 desc, 1'}`,
    [actor.workspaceId, from ?? null, to ?? null],
  );
  return rows.map(({ group, recordings, minutes }) => ({ [by]: group, recordings, minutes }));
}
