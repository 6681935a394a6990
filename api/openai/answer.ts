import { z } from 'zod';
import type { FullRecord } from '../../db/transcripts/record.ts';
import { json, type Reply } from '../http/route.ts';
import { subtitlesOf } from '../v1/subtitles.ts';
import type { Asked } from './options.ts';

const Seconds = z.number();
const Usage = z.object({ type: z.literal('duration'), seconds: Seconds });
const TimedWord = z.object({ word: z.string(), start: Seconds, end: Seconds });
const TimedSegment = z.object({ id: z.union([z.int(), z.string()]), start: Seconds, end: Seconds, text: z.string() });

/** The JSON responses in one schema: `json` has `text` and `usage`, `verbose_json` and `diarized_json` the rest. */
export const OpenAiTranscription = z
  .object({
    task: z.literal('transcribe').optional(),
    language: z.string().optional().describe('English name of the language; of verbose_json'),
    duration: Seconds.optional(),
    text: z.string(),
    words: z.array(TimedWord).optional(),
    segments: z
      .array(
        TimedSegment.extend({
          type: z.literal('transcript.text.segment').optional(),
          speaker: z.string().optional().describe('A, B, C in order of first appearance; of diarized_json'),
          seek: z.int().optional(),
          tokens: z.array(z.int()).optional(),
          temperature: z.number().optional(),
          avg_logprob: z.number().optional(),
          compression_ratio: z.number().optional(),
          no_speech_prob: z.number().optional(),
        }),
      )
      .optional(),
    usage: Usage,
  })
  .meta({ id: 'OpenAiTranscription' });

/** Fields that clients of OpenAI's API expect on each segment and that Longhand does not store. */
const NOT_KEPT = { seek: 0, tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 };

/** A completed record in the requested format. */
export async function answerWith(record: FullRecord, asked: Asked): Promise<Reply> {
  const text = record.segments.map((segment) => segment.text).join(' ');
  const duration = record.duration_seconds ?? 0;
  const usage = { type: 'duration', seconds: Math.ceil(duration) };
  switch (asked.format) {
    case 'json':
      return json(200, { text, usage });
    case 'text':
      return plain('text/plain', `${text}\n`);
    case 'srt':
      return plain('application/x-subrip', await subtitlesOf(record, 'srt'));
    case 'vtt':
      return plain('text/vtt', await subtitlesOf(record, 'vtt'));
    case 'verbose_json':
      return json(200, {
        ...{ task: 'transcribe', language: nameOf(record.language), duration, text },
        ...(asked.words && { words: record.segments.flatMap(words) }),
        ...(asked.segments && { segments: record.segments.map((segment, at) => ({ ...timed(segment, at), ...NOT_KEPT })) }),
        usage,
      });
    case 'diarized_json': {
      const speakers = [...new Set(record.segments.map((segment) => segment.speaker_id))];
      const segments = record.segments.map((segment, at) => ({
        type: 'transcript.text.segment',
        ...timed(segment, at),
        id: `seg_${segment.id}`,
        speaker: letters(speakers.indexOf(segment.speaker_id)),
      }));
      return json(200, { task: 'transcribe', duration, text, segments, usage });
    }
  }
}

type Segment = FullRecord['segments'][number];

function timed({ start, end, text }: Segment, at: number) {
  return { id: at, start: start ?? 0, end: end ?? 0, text };
}

function words(segment: Segment) {
  return (segment.words ?? []).map(({ text, start, end }) => ({ word: text.trim(), start, end }));
}

/** 0 -> A, 25 -> Z, 26 -> AA */
function letters(index: number): string {
  return (index >= 26 ? letters(Math.floor(index / 26) - 1) : '') + String.fromCharCode(65 + (index % 26));
}

function nameOf(language: string | null): string {
  if (!language) return 'unknown';
  const code = language === 'jw' ? 'jv' : language; // Whisper's code for Javanese
  return (new Intl.DisplayNames(['en'], { type: 'language', fallback: 'code' }).of(code) ?? language).toLowerCase();
}

function plain(type: string, body: string): Reply {
  return { status: 200, headers: { 'content-type': `${type}; charset=utf-8` }, body };
}
