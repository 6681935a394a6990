import { z } from 'zod';
import { LIMITS } from '../contract/limits.ts';
import { TemplateList } from '../contract/report.ts';
import { ReportTickets, SORTS, STATUSES } from '../contract/transcription.ts';
import { WorkspaceInfo } from '../contract/workspace.ts';
import type { Invocation } from '../guard/invoke.ts';
import type { Route } from '../http/route.ts';
import { exportOne } from '../v1/exports.ts';
import { listTranscriptions } from '../v1/list.ts';
import { listPrompts, requestReport } from '../v1/reports.ts';
import { getTranscription } from '../v1/transcriptions.ts';
import { getWorkspace } from '../v1/workspace.ts';
import { parseExact } from './exact.ts';
import { fitting, ListPart, PAGE_CHARACTERS, TranscriptPart, transcriptPart } from './parts.ts';

/** Calls a route of `/v1` for the caller and returns the response's text. */
export type Asker = (route: Route, ask: Invocation) => Promise<string>;

export interface Tool {
  name: string;
  title: string;
  description: string;
  input: z.ZodObject;
  output: z.ZodObject;
  readOnly: boolean;
  run(input: Record<string, unknown>, ask: Asker): Promise<Record<string, unknown>>;
}

/** Declares a tool; the schema determines the type of `run`. */
function tool<S extends z.ZodRawShape>(
  spec: Omit<Tool, 'run' | 'input'> & { input: S; run(input: z.output<z.ZodObject<S>>, ask: Asker): Promise<Record<string, unknown>> },
): Tool {
  const output = z.object(spec.output.shape); // a schema with an id would become a reference
  return { ...spec, input: z.object(spec.input), output } as unknown as Tool;
}

const id = z.guid().describe('Id of the transcription');
const limit = z.int().min(1).max(100).default(20);
const offset = z.int().min(0).default(0).describe('Number of items to skip');
const text = (value: unknown) => (value === undefined ? undefined : String(value));

/** The tools, in the order of the list. Only request_reports writes. */
export const TOOLS: readonly Tool[] = [
  tool({
    name: 'list_transcriptions',
    title: 'List transcriptions',
    description: 'Newest first, without text. Filters are combined with AND. Long lists are paged: call again with next_offset as offset.',
    readOnly: true,
    output: ListPart,
    input: {
      status: z.enum(STATUSES).default('completed'),
      language: z.string().optional().describe('Two-letter code'),
      project_id: z.guid().optional(),
      date_from: z.iso.date().optional().describe('Created on or after this day, UTC'),
      date_to: z.iso.date().optional().describe('Created on or before this day, UTC'),
      metadata: z.record(z.string(), z.string()).optional().describe('Exact matches on metadata keys'),
      sort: z.enum(SORTS).default('-created_at'),
      limit,
      offset,
    },
    async run({ metadata, limit, offset, ...filters }, ask) {
      const named = Object.fromEntries(Object.entries(metadata ?? {}).map(([key, value]) => [`metadata.${key}`, value]));
      return fitting(
        parseExact(await ask(listTranscriptions, { query: { ...filters, ...named, limit: text(limit), offset: text(offset) } })),
      );
    },
  }),
  tool({
    name: 'search_by_external_id',
    title: 'Find by external id',
    description: 'Transcriptions with this id of an external system (a deal or call id, for example). Exact match; several may match.',
    readOnly: true,
    output: ListPart,
    input: {
      external_id: z.string().min(1).max(128),
      status: z.enum(STATUSES).default('completed'),
      limit,
      offset,
    },
    async run({ external_id, status, limit, offset }, ask) {
      return fitting(
        parseExact(await ask(listTranscriptions, { query: { external_id, status, limit: text(limit), offset: text(offset) } })),
      );
    },
  }),
  tool({
    name: 'search_transcripts',
    title: 'Search transcripts',
    description:
      'Transcriptions in which all of these words were spoken, ignoring case and accents, with up to 3 segments that contain them. Filters are combined with AND.',
    readOnly: true,
    output: ListPart,
    input: {
      query: z
        .string()
        .min(1)
        .max(LIMITS.SEARCH_CHARACTERS)
        .describe(`Words as spoken, at most ${LIMITS.SEARCH_WORDS}; other forms of a word do not match`),
      language: z.string().optional().describe('Two-letter code'),
      project_id: z.guid().optional(),
      date_from: z.iso.date().optional().describe('Created on or after this day, UTC'),
      date_to: z.iso.date().optional().describe('Created on or before this day, UTC'),
      limit,
      offset,
    },
    async run({ query, limit, offset, ...filters }, ask) {
      return fitting(
        parseExact(await ask(listTranscriptions, { query: { ...filters, q: query, limit: text(limit), offset: text(offset) } })),
      );
    },
  }),
  tool({
    name: 'get_transcription',
    title: 'Read a transcription',
    description:
      'Status, details, reports and segments of one transcription. Long transcripts are paged: call again with next_segment of the last result as from_segment. Filter by speaker, time range or text.',
    readOnly: true,
    output: TranscriptPart,
    input: {
      id,
      from_segment: z.int().min(1).default(1).describe('Id of the first segment to return'),
      speaker: z.string().optional().describe('speaker_id, or the displayed name'),
      start: z.number().min(0).optional().describe('Only segments that end after this time, in seconds'),
      end: z.number().min(0).optional().describe('Only segments that begin before this time, in seconds'),
      search: z.string().optional().describe('Only segments that contain this text, ignoring case'),
    },
    run: async (input, ask) => transcriptPart(parseExact(await ask(getTranscription, { params: { id: input.id } })), input),
  }),
  tool({
    name: 'list_templates',
    title: 'List report templates',
    description: 'Templates available to request_reports, with their slugs.',
    readOnly: true,
    output: TemplateList,
    input: {},
    run: async (_, ask) => JSON.parse(await ask(listPrompts, {})),
  }),
  tool({
    name: 'request_reports',
    title: 'Request reports',
    description:
      'Starts up to 3 reports by slug, or returns existing ones. Read them with get_transcription once their status is completed.',
    readOnly: false,
    output: ReportTickets,
    input: { id, reports: z.array(z.string()).min(1).max(3).describe('Slugs from list_templates') },
    run: async ({ id, reports }, ask) => JSON.parse(await ask(requestReport, { params: { id }, body: { reports } })),
  }),
  tool({
    name: 'get_workspace',
    title: 'Workspace',
    description: 'Name, remaining minutes and limits of the workspace.',
    readOnly: true,
    output: WorkspaceInfo,
    input: {},
    run: async (_, ask) => JSON.parse(await ask(getWorkspace, {})),
  }),
  tool({
    name: 'export_transcription',
    title: 'Export as a document',
    description:
      'The transcript with summary and reports, as Markdown or plain text. Long documents are paged: call again with next_character as from_character.',
    readOnly: true,
    output: z.object({
      document: z.string(),
      characters: z.int().describe('Length of the whole document'),
      next_character: z.int().nullable(),
    }),
    input: { id, format: z.enum(['md', 'txt']).default('md'), from_character: z.int().min(0).default(0) },
    async run({ id, format, from_character }, ask) {
      const whole = (await ask(exportOne, { params: { id }, query: { format } })).replace(/^\uFEFF/, '');
      const piece = whole.slice(from_character, from_character + PAGE_CHARACTERS).replace(/[\ud800-\udbff]$/, ''); // do not split a surrogate pair
      const next = from_character + piece.length;
      return { document: piece, characters: whole.length, next_character: next < whole.length ? next : null };
    },
  }),
];
