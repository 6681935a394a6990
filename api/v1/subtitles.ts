import { z } from 'zod';
import { type FullRecord, loadRecord } from '../../db/transcripts/record.ts';
import { ApiError, notFound } from '../contract/errors.ts';
import { SUBTITLE_FORMATS, type SubtitleFormat } from '../contract/formats.ts';
import { attachment, baseName } from '../export/names.ts';
import { subtitles } from '../export/subtitles.ts';
import { route } from '../http/route.ts';

const TYPES: Record<SubtitleFormat, string> = { srt: 'application/x-subrip; charset=utf-8', vtt: 'text/vtt; charset=utf-8' };

export const getSubtitles = route({
  method: 'GET',
  path: '/v1/transcriptions/{id}/subtitles',
  id: 'getSubtitles',
  summary: 'Subtitles of one transcription',
  description:
    'Cues have at most two lines of 42 characters and last at most 7 seconds. They break at pauses and phrases; speaker changes are marked.',
  tag: 'Export',
  access: { scope: 'read', scopeError: null },
  params: { id: 'Of the transcription' },
  query: z.object({ format: z.enum(SUBTITLE_FORMATS, 'must be srt or vtt').default('srt') }),
  answers: {
    200: {
      description: 'A file named after the title',
      type: ['application/x-subrip', 'text/vtt'],
      headers: { 'Content-Disposition': 'The name of the file' },
    },
  },
  errors: ['validation_error', 404, 'transcription_not_completed'],
  async handler({ db, vault, caller, params, query: { format } }) {
    const loaded = await db.workspace(caller.workspaceId, (tx) => loadRecord(tx, vault, caller, params.id!, true));
    if (!loaded) throw notFound();
    const { record } = loaded;
    if (record.status !== 'completed') throw new ApiError('transcription_not_completed', { retryAfterSeconds: 10 });
    const body = await subtitlesOf(record, format);
    return {
      status: 200,
      headers: { 'content-type': TYPES[format], 'content-disposition': attachment(`${baseName(record.title)}.${format}`) },
      body,
    };
  },
});

/** The subtitles of a completed record that was loaded with word timestamps. */
export function subtitlesOf(record: FullRecord, format: SubtitleFormat): Promise<string> {
  const names = new Map(record.segments.map((segment) => [segment.speaker_id, segment.speaker_name]));
  const { language, segments, duration_seconds: durationSeconds } = record;
  return subtitles(
    { language, durationSeconds, segments, speakers: record.speakers.map(({ id }) => ({ id, name: names.get(id) ?? null })) },
    format,
  );
}
