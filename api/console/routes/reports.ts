import { earlierReports, extractiveTexts, regenerateReport } from '../../../db/reports/history.ts';
import { reportTarget } from '../../../db/reports/request.ts';
import { mayEdit } from '../../../db/transcripts/mutate.ts';
import { requireScope } from '../../contract/actor.ts';
import { ApiError, notFound } from '../../contract/errors.ts';
import { json } from '../../http/route.ts';
import { page } from '../page.ts';

/** A report written again, under the same slug. */
export const regenerate = page({
  method: 'POST',
  path: '/transcriptions/{id}/reports/{report_id}/regenerate',
  async handler({ db, params, limits, clock }, actor) {
    requireScope(actor, 'reports:write', 'reports_scope_required');
    const ticket = await db.workspace(actor.workspaceId, async (tx) => {
      const target = await reportTarget(tx, actor, params.id!);
      if (!target) throw notFound();
      if (target.status !== 'completed') throw new ApiError('transcription_not_completed', { retryAfterSeconds: 10 });
      return regenerateReport(tx, actor, target, params.report_id!, limits, clock.latest());
    });
    return json(202, ticket);
  },
});

/** Reports, and whether the summary, that no language model wrote. */
export const extractive = page({
  method: 'GET',
  path: '/transcriptions/{id}/reports/extractive',
  async handler({ db, params }, actor) {
    const texts = await db.workspace(actor.workspaceId, async (tx) => {
      await mayEdit(tx, actor, params.id!); // 404 for those who cannot see it
      return extractiveTexts(tx, actor, params.id!);
    });
    return json(200, texts);
  },
});

/** Earlier versions of a report. */
export const earlier = page({
  method: 'GET',
  path: '/transcriptions/{id}/reports/{report_id}/history',
  async handler({ db, vault, params }, actor) {
    const items = await db.workspace(actor.workspaceId, (tx) => earlierReports(tx, vault, actor, params.id!, params.report_id!));
    return json(200, { items });
  },
});
