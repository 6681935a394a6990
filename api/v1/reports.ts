import { reportTarget, requestReports, resolveTemplates } from '../../db/reports/request.ts';
import { listTemplates } from '../../db/reports/templates.ts';
import { ApiError, invalid, notFound } from '../contract/errors.ts';
import { TemplateList } from '../contract/report.ts';
import { ReportRequest, ReportTickets } from '../contract/transcription.ts';
import { check } from '../http/request.ts';
import { json, route } from '../http/route.ts';
import { judgedLater } from './body.ts';
import { TEMPLATES_EXAMPLE, TICKETS_EXAMPLE } from './examples.ts';
import { readSlugs } from './slugs.ts';

const REPORTS = { scope: 'reports:write', scopeError: 'reports_scope_required' } as const;
const TAG = 'Reports';

export const listPrompts = route({
  method: 'GET',
  path: '/v1/prompts',
  id: 'listReportTemplates',
  summary: 'List report templates',
  description:
    'The built-in templates, templates published for the whole workspace, and published personal templates of the owner of the key.',
  tag: TAG,
  access: REPORTS,
  answers: { 200: { description: 'Templates', schema: TemplateList, example: TEMPLATES_EXAMPLE } },
  errors: [],
  async handler({ db, caller }) {
    return json(200, { prompts: await db.workspace(caller.workspaceId, (tx) => listTemplates(tx, caller)) });
  },
});

export const requestReport = route({
  method: 'POST',
  path: '/v1/transcriptions/{id}/reports',
  id: 'requestReports',
  summary: 'Request reports',
  description:
    'Either all reports are accepted or none. An existing report (queued, processing or completed) is returned as it is; a failed one may be requested again. Generation starts when the transcript is ready.',
  tag: TAG,
  access: REPORTS,
  params: { id: 'Of the transcription' },
  body: ReportRequest,
  answers: { 202: { description: 'The reports, in the order of the request', schema: ReportTickets, example: TICKETS_EXAMPLE } },
  errors: [
    404,
    'transcription_failed',
    'validation_error',
    'too_many_reports',
    'prompt_not_found',
    'report_generation_limit',
    'daily_reports_quota_exceeded',
    'too_many_queued_reports',
  ],
  async handler(context) {
    const { db, caller, params, limits, clock } = context;
    const given = await judgedLater(context);
    const reports = await db.workspace(caller.workspaceId, async (tx) => {
      const target = await reportTarget(tx, caller, params.id!);
      if (!target) throw notFound();
      if (target.status === 'failed' || target.status === 'insufficient_balance') throw new ApiError('transcription_failed');
      const slugs = readSlugs(check(ReportRequest, given()).reports.join(','));
      if (!slugs.length) throw invalid([{ field: 'reports', message: 'must name at least one template' }]);
      const { templates, missing } = await resolveTemplates(tx, caller, slugs);
      if (missing !== null) throw new ApiError('prompt_not_found', { detail: { slug: missing } });
      return requestReports(tx, caller, target, templates, limits, clock.latest());
    });
    return json(202, { reports });
  },
});
