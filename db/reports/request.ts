import type { Actor } from '../../api/contract/actor.ts';
import { builtin } from '../../api/contract/catalogue.ts';
import { ApiError } from '../../api/contract/errors.ts';
import type { Limits } from '../../api/contract/limits.ts';
import type { ReportStatus, ReportTicket, Status } from '../../api/contract/transcription.ts';
import { enqueueReport } from '../jobs/queue.ts';
import type { Tx } from '../postgres/orm.ts';
import { lookupId, visible } from '../tenants/visibility.ts';

/* SQL: quotas, counted under the lock of the daily counter. */

/** The template stored with a report. */
export interface TemplateRef {
  slug: string;
  name: string;
  /** Null for a built-in one. */
  templateId: string | null;
  /** Id of the future report, if it must be known in advance. */
  id?: string;
}

/**
 * Resolves slugs for the owner of a key: built-in, then the workspace's, then their own templates; published ones only. `missing`: the
 * first unknown slug; `templates` is then incomplete.
 */
export async function resolveTemplates(
  tx: Tx,
  actor: Actor,
  slugs: readonly string[],
): Promise<{ templates: TemplateRef[]; missing: string | null }> {
  const rows = await tx.rows<{ id: string; slug: string; name: string }>(
    `select distinct on (p.slug) p.id, p.slug, p.name from templates p
     where p.workspace_id = ? and p.status = 'published' and (p.scope = 'workspace' or p.owner_id = ?)
       and p.slug in (select jsonb_array_elements_text(?::jsonb))
     order by p.slug, p.scope = 'workspace' desc`,
    [actor.workspaceId, actor.memberId, JSON.stringify(slugs.filter((slug) => !slug.includes('\0')))],
  );
  const custom = new Map(rows.map((row) => [row.slug, row]));
  const templates: TemplateRef[] = [];
  for (const slug of slugs) {
    const known = builtin(slug);
    const own = custom.get(slug);
    if (known) templates.push({ slug, name: known.name, templateId: null });
    else if (own) templates.push({ slug, name: own.name, templateId: own.id });
    else return { templates, missing: slug };
  }
  return { templates, missing: null };
}

/**
 * Checks whether `wanted` more reports exceed the workspace's daily limit or its limit of queued reports. Reads only: uploads call it
 * before the body arrives. Throws `daily_reports_quota_exceeded` or `too_many_queued_reports`.
 */
export async function checkReportQuota(tx: Tx, workspaceId: string, wanted: number, limits: Limits): Promise<void> {
  const use = await tx.row<{ today: number; waiting: number; midnight: number }>(
    `select coalesce((select c.count from counters c
         where c.workspace_id = ? and c.name = 'reports' and c.day = (now() at time zone 'utc')::date), 0) + f.count as today,
       (select count(*) from reports r where r.workspace_id = ? and r.status = 'queued')::int + f.count as waiting,
       ceil(extract(epoch from date_trunc('day', now() at time zone 'utc') + interval '1 day' - now() at time zone 'utc'))::int as midnight
     from (select coalesce(sum(l.reports), 0)::int as count from upload_leases l where l.workspace_id = ?) f -- those that come with uploads in flight`,
    [workspaceId, workspaceId, workspaceId],
  );
  if (!use || wanted === 0) return;
  if (use.today + wanted > limits.REPORTS_PER_DAY)
    throw new ApiError('daily_reports_quota_exceeded', { retryAfterSeconds: Math.max(1, use.midnight) });
  if (use.waiting + wanted > limits.REPORTS_WAITING) throw new ApiError('too_many_queued_reports', { retryAfterSeconds: 60 });
}

/**
 * Queues one report per template, and counts them for the day and for the transcription. The caller has checked the limits. Locks the row
 * of the daily counter until the transaction ends, so requests of one workspace are serialised. If a template was deleted meanwhile, for
 * example during a long upload, its report will fail with TEMPLATE_UNAVAILABLE.
 */
export async function insertReports(
  tx: Tx,
  target: { workspaceId: string; transcriptionId: string },
  templates: readonly TemplateRef[],
): Promise<ReportTicket[]> {
  if (!templates.length) return [];
  await tx.rows(
    `insert into counters (workspace_id, name, day, count) values (?, 'reports', (now() at time zone 'utc')::date, ?)
     on conflict (workspace_id, name, day) do update set count = counters.count + excluded.count`,
    [target.workspaceId, templates.length],
  );
  await tx.rows('update transcriptions t set reports_made = t.reports_made + ? where t.workspace_id = ? and t.id = ?', [
    templates.length,
    target.workspaceId,
    target.transcriptionId,
  ]);
  const tickets: ReportTicket[] = [];
  for (const template of templates) {
    const row = await tx.row<{ id: string; slug: string; status: ReportStatus }>(
      `insert into reports (id, workspace_id, transcription_id, template_id, slug, name, status, created_at)
       values (coalesce(?::uuid, gen_random_uuid()), ?, ?, (select p.id from templates p where p.workspace_id = ? and p.id = ?::uuid for key share), ?, ?, 'queued', clock_timestamp())
       returning id, slug, status`,
      [
        template.id ?? null,
        target.workspaceId,
        target.transcriptionId,
        target.workspaceId,
        template.templateId,
        template.slug,
        template.name,
      ],
    );
    tickets.push(row!);
  }
  return tickets;
}

/** A transcription for which reports are requested. Its row is locked until the transaction ends. */
export interface ReportTarget {
  id: string;
  status: Status;
  /** Generations so far, failed ones included. */
  made: number;
}

/** The transcription, or null if the actor cannot see it. */
export function reportTarget(tx: Tx, actor: Actor, id: string): Promise<ReportTarget | null> {
  const { sql, parameters } = visible(actor);
  return tx.row<ReportTarget>(
    `select t.id, t.status, t.reports_made as made from transcriptions t where t.id = ?::uuid and ${sql} for no key update of t`,
    [lookupId(id), ...parameters],
  );
}

/**
 * Requests reports of a transcription, all or none; results are in the order of the templates. A report of the same slug that is queued,
 * being written or completed is returned and not counted. `latest`: see `ClockWatch`. Throws `report_generation_limit`, else as `checkReportQuota`.
 */
export async function requestReports(
  tx: Tx,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  target: ReportTarget,
  templates: readonly TemplateRef[],
  limits: Limits,
  latest: number | null,
): Promise<ReportTicket[]> {
  const live = await tx.rows<ReportTicket>(
    `select r.id, r.slug, r.status from reports r
     where r.workspace_id = ? and r.transcription_id = ? and r.replaced_by is null
       and r.status in ('queued', 'processing', 'completed')`,
    [workspaceId, target.id],
  );
  const tickets = new Map(live.map((ticket) => [ticket.slug, ticket]));
  const fresh = templates.filter(({ slug }) => !tickets.has(slug));
  if (target.made + fresh.length > limits.REPORTS_PER_TRANSCRIPTION)
    throw new ApiError('report_generation_limit', { retryAfterSeconds: NEVER_SECONDS });
  if (fresh.length) {
    await lockReports(tx, workspaceId);
    await releaseExpiredSlots(tx, workspaceId, latest);
  }
  await checkReportQuota(tx, workspaceId, fresh.length, limits);
  const made = await insertReports(tx, { workspaceId, transcriptionId: target.id }, fresh);
  for (const ticket of made) tickets.set(ticket.slug, ticket);
  if (made.length && target.status === 'completed') for (const { id } of made) await enqueueReport(tx, id);
  return templates.map(({ slug }) => tickets.get(slug)!);
}

const NEVER_SECONDS = 86_400; // the limit of a transcription never resets

/** Locks the workspace's daily counter, so that concurrent requests and uploads cannot both use the last of a quota. */
export async function lockReports(tx: Tx, workspaceId: string): Promise<void> {
  await tx.rows(
    `insert into counters (workspace_id, name, day, count) values (?, 'reports', (now() at time zone 'utc')::date, 0)
     on conflict (workspace_id, name, day) do update set count = counters.count`,
    [workspaceId],
  );
}

/**
 * Ends the workspace's uploads in progress whose lease has expired, before the others are counted: an upload that resumes later cannot be
 * accepted beside those that took its slot. An upload whose heartbeat is being written at this moment still counts. The counter must be
 * locked. `latest`: see `ClockWatch`.
 */
export async function releaseExpiredSlots(tx: Tx, workspaceId: string, latest: number | null): Promise<void> {
  await tx.rows(
    `delete from upload_leases where workspace_id = ?::uuid and id in (select l.id from upload_leases l
       where l.workspace_id = ?::uuid and l.lease_until < least(clock_timestamp(), to_timestamp(?::float8)) for update skip locked)`,
    [workspaceId, workspaceId, latest],
  );
}
