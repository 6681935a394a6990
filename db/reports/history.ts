import { randomUUID } from 'node:crypto';
import type { Actor } from '../../api/contract/actor.ts';
import { builtin } from '../../api/contract/catalogue.ts';
import { ApiError, notFound } from '../../api/contract/errors.ts';
import type { Limits } from '../../api/contract/limits.ts';
import type { ReportResult, ReportStatus, ReportTicket } from '../../api/contract/transcription.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { lookupId, visible } from '../tenants/visibility.ts';
import { stamp } from '../transcripts/list-row.ts';
import { type ReportTarget, requestReports, type TemplateRef } from './request.ts';

/* SQL: a report and its predecessors share a slug; selected under the predicate of all lists. */

interface Current extends ReportTicket {
  name: string;
  template_id: string | null;
}

/**
 * Regenerates a report under its slug, with the current version of its template. The new report replaces the old one at once; if it fails,
 * the old one is restored. If a report of this slug is already queued or being written, that one is returned and not counted. If an older
 * report is named, the newest one is replaced. Quotas apply as for a request. Throws 404, and `prompt_not_found` if the template was
 * deleted.
 */
export async function regenerateReport(
  tx: Tx,
  actor: Actor,
  target: ReportTarget,
  reportId: string,
  limits: Limits,
  latest: number | null,
): Promise<ReportTicket> {
  const current = await tx.row<Current>(
    `select r.id, r.slug, r.status, r.name, r.template_id from reports r join reports named on named.slug = r.slug
       and named.workspace_id = r.workspace_id and named.transcription_id = r.transcription_id
     where r.workspace_id = ? and r.transcription_id = ? and named.id = ?::uuid and r.replaced_by is null
     order by r.status <> 'failed' desc, r.created_at desc limit 1`,
    [actor.workspaceId, target.id, lookupId(reportId)],
  );
  if (!current) throw notFound();
  const { id, slug, status } = current;
  if (status === 'queued' || status === 'processing') return { id, slug, status };
  if (!builtin(slug) && !current.template_id) throw new ApiError('prompt_not_found', { detail: { slug } });
  const template: TemplateRef = { id: randomUUID(), slug, name: current.name, templateId: current.template_id };
  await tx.rows('update reports r set replaced_by = ?::uuid where r.workspace_id = ? and r.id = ?::uuid', [
    template.id,
    actor.workspaceId,
    id,
  ]);
  const [ticket] = await requestReports(tx, actor, target, [template], limits, latest);
  return ticket!;
}

/** The reports of a transcription that were written without a language model, and whether its summary was. The caller checks that it is visible. */
export async function extractiveTexts(tx: Tx, actor: Actor, id: string): Promise<{ ids: string[]; summary: boolean }> {
  const rows = await tx.rows<{ id: string }>(
    `select r.id from reports r where r.workspace_id = ?::uuid and r.transcription_id = ?::uuid and r.writer = 'extractive'`,
    [actor.workspaceId, lookupId(id)],
  );
  const summary = await tx.row(
    `select 1 from transcriptions t where t.workspace_id = ?::uuid and t.id = ?::uuid and t.summary_writer = 'extractive'`,
    [actor.workspaceId, lookupId(id)],
  );
  return { ids: rows.map((row) => row.id), summary: summary !== null };
}

/** An earlier version of a report. */
export type EarlierReport = Pick<ReportResult, 'id' | 'slug' | 'name' | 'text' | 'created_at' | 'completed_at'>;

/** The completed predecessors of the named report, or of the newest one of its slug; newest first. Throws 404. */
export async function earlierReports(tx: Tx, vault: Vault, actor: Actor, id: string, reportId: string): Promise<EarlierReport[]> {
  const { sql, parameters } = visible(actor);
  const rows = await tx.rows<Omit<EarlierReport, 'text'> & { status: ReportStatus; replaced: boolean; text_sealed: Buffer | null }>(
    `select r.id, r.slug, r.name, r.status, r.replaced_by is not null as replaced, r.text_sealed,
       ${stamp('r.created_at')} as created_at, ${stamp('r.completed_at')} as completed_at
     from transcriptions t join reports named on named.workspace_id = t.workspace_id and named.transcription_id = t.id
       join reports r on r.workspace_id = t.workspace_id and r.transcription_id = t.id and r.slug = named.slug
     where t.id = ?::uuid and named.id = ?::uuid and ${sql} order by r.created_at desc, r.id desc`,
    [lookupId(id), lookupId(reportId), ...parameters],
  );
  if (!rows.length) throw notFound();
  const earlier = rows.filter(({ status, replaced }) => replaced && status === 'completed');
  return Promise.all(
    earlier.map(async ({ status: _, replaced: __, text_sealed, ...report }) => ({
      ...report,
      text: await vault.text(actor.workspaceId, `reports|${report.id}|text`, text_sealed),
    })),
  );
}
