import { milli } from '../../api/contract/seconds.ts';
import { transcriptText } from '../../api/contract/text.ts';
import { markdown } from '../../api/export/markdown.ts';
import { subtitles } from '../../api/export/subtitles.ts';
import type { Transcript } from '../../engine/types.ts';

export const FORMATS = ['txt', 'md', 'json', 'srt', 'vtt'] as const;
export type Format = (typeof FORMATS)[number];

/** The transcript of `filename` as a file of one format, ending in a line break. The fields of JSON are those of the API's record. */
export async function render(transcript: Transcript, filename: string, format: Format, words: boolean): Promise<string> {
  const record = recordOf(transcript, filename);
  switch (format) {
    case 'txt':
      return `${record.text}\n`;
    case 'md':
      return markdown({ ...record, created_at: new Date().toISOString(), summary: null, topics: null, prompt_results: [] }, filename);
    case 'json':
      return `${JSON.stringify(words ? record : { ...record, segments: record.segments.map(({ words: _, ...segment }) => segment) })}\n`;
    case 'srt':
    case 'vtt':
      return subtitles(
        { ...record, durationSeconds: record.duration_seconds, speakers: record.speakers.map(({ id }) => ({ id, name: null })) },
        format,
      );
  }
}

function recordOf(transcript: Transcript, filename: string) {
  const id = (speaker: number | null) => (speaker === null ? null : `speaker_${speaker + 1}`);
  const segments = transcript.segments.map((segment) => ({
    id: segment.id,
    start: milli(segment.start),
    end: milli(segment.end),
    speaker_id: id(segment.speaker),
    speaker_name: null,
    text: segment.text,
    words: segment.words.map(({ start, end, text }) => ({ start: milli(start), end: milli(end), text })),
  }));
  return {
    title: filename,
    language: transcript.language,
    duration_seconds: milli(transcript.durationSeconds),
    media_type: transcript.mediaType,
    speakers: Array.from({ length: transcript.speakers }, (_, speaker) => ({ id: id(speaker)!, name: `Speaker ${speaker + 1}` })),
    text: transcriptText(segments),
    segments,
  };
}
