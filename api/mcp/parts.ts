import { z } from 'zod';
import { type ListItem, ReportResult, type Segment, Transcription, TranscriptionPage } from '../contract/transcription.ts';

/* Tool results are split to fit into a conversation, with an offset for the next part. */

export const PAGE_CHARACTERS = 24_000; // per result: about 6,000 tokens

export const ListPart = TranscriptionPage.extend({
  next_offset: z.int().nullable().describe('offset for the next page; null at the end'),
});

/** As many items of a page as fit into one result. */
export function fitting(page: z.infer<typeof TranscriptionPage>): z.infer<typeof ListPart> {
  let characters = 0;
  const items = page.items.filter((item: z.infer<typeof ListItem>, at) => {
    characters += JSON.stringify(item).length;
    return at === 0 || characters <= PAGE_CHARACTERS;
  });
  const next = page.offset + items.length;
  return { ...page, items, next_offset: items.length && next < page.total ? next : null };
}

const Turn = z.object({
  id: z.int(),
  start: z.number().nullable(),
  end: z.number().nullable(),
  speaker: z.string().nullable(),
  text: z.string(),
});

export const TranscriptPart = Transcription.omit({ segments: true, text: true }).extend({
  prompt_results: z
    .array(ReportResult)
    .describe('Texts are included with the first page as far as they fit; the export contains all of them'),
  segments_total: z.int(),
  segments_matching: z.int(),
  segments: z.array(Turn),
  next_segment: z.int().nullable().describe('from_segment for the next page; null at the end'),
});

export interface Wanted {
  from_segment: number;
  speaker?: string;
  start?: number;
  end?: number;
  search?: string;
}

/** A transcription with the requested turns, as many as fit into one result. */
export function transcriptPart(record: z.infer<typeof Transcription>, wanted: Wanted): z.infer<typeof TranscriptPart> {
  const { segments, text: _, prompt_results, ...facts } = record;
  return { ...facts, prompt_results: shortened(prompt_results, wanted), ...turns(segments, facts.speakers, wanted) };
}

function shortened(reports: z.infer<typeof ReportResult>[], { from_segment }: Wanted): z.infer<typeof ReportResult>[] {
  let characters = 0;
  return reports.map((report) => {
    characters += report.text?.length ?? 0;
    return from_segment === 1 && characters <= PAGE_CHARACTERS ? report : { ...report, text: null };
  });
}

function turns(segments: z.infer<typeof Segment>[], speakers: { id: string; name: string }[], wanted: Wanted) {
  const names = new Map(speakers.map(({ id, name }) => [id, name]));
  const shown = (segment: z.infer<typeof Segment>) => segment.speaker_name ?? names.get(segment.speaker_id ?? '') ?? null;
  const searched = wanted.search?.toLowerCase();
  const speaker = wanted.speaker?.toLowerCase();
  const matching = segments.filter(
    (segment) =>
      segment.id >= wanted.from_segment &&
      (speaker === undefined || segment.speaker_id === wanted.speaker || shown(segment)?.toLowerCase() === speaker) &&
      (wanted.start === undefined || (segment.end ?? 0) > wanted.start) &&
      (wanted.end === undefined || (segment.start ?? 0) < wanted.end) &&
      (searched === undefined || segment.text.toLowerCase().includes(searched)),
  );
  const part: z.infer<typeof Turn>[] = [];
  let characters = 0;
  for (const segment of matching) {
    characters += segment.text.length + 60;
    if (part.length && characters > PAGE_CHARACTERS) break;
    part.push({ id: segment.id, start: segment.start, end: segment.end, speaker: shown(segment), text: segment.text });
  }
  return {
    segments_total: segments.length,
    segments_matching: matching.length,
    segments: part,
    next_segment: matching[part.length]?.id ?? null,
  };
}
