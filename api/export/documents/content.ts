import { clock, genericLabels } from '../../contract/text.ts';
import type { Transcription } from '../../contract/transcription.ts';
import type { Content, Paragraph, Span } from './blocks.ts';
import { clean, prose } from './prose.ts';

type Shown = Pick<
  Transcription,
  'title' | 'created_at' | 'language' | 'duration_seconds' | 'speakers' | 'summary' | 'prompt_results' | 'segments'
>;

/** Print colours of speakers, those of the console's light theme: contrast with white is at least 5:1. */
const VOICES = ['2f4bc7', '9a3d0b', '176a39', '84208c', '6a5600', '006675', 'a3123c', '4d4a52'];
const QUIET = '5b5966';

/** Title, summary, completed reports and every turn under its speaker's name; with `times`, also the start time. */
export function contentOf(record: Shown, times: boolean): Content {
  const summary = record.summary?.trim() ? [heading('Summary'), ...prose(record.summary)] : [];
  const reports = record.prompt_results
    .filter(({ status }) => status === 'completed')
    .flatMap((report) => [heading(report.name ?? report.slug ?? 'Report'), ...prose(report.text ?? '')]);
  return {
    title: clean(record.title ?? ''),
    language: record.language,
    blocks: [
      { kind: 'title', spans: [{ text: clean(record.title ?? '') }] },
      { kind: 'text', spans: [{ text: facts(record), colour: QUIET }] },
      ...summary,
      ...reports,
      heading('Transcript'),
      ...turns(record, times),
    ],
  };
}

function heading(text: string): Paragraph {
  return { kind: 'heading', spans: [{ text: clean(text) }] };
}

function facts({ created_at, duration_seconds, speakers }: Shown): string {
  const length = duration_seconds === null ? '' : clock(duration_seconds);
  return [created_at.slice(0, 10), length, ...speakers.map(({ name }) => clean(name))].filter(Boolean).join(' · ');
}

/** A name is printed once above consecutive turns of its speaker. */
function turns({ segments, speakers }: Shown, times: boolean): Paragraph[] {
  const labels = genericLabels(segments);
  const names = new Map(speakers.map(({ id, name }) => [id, name]));
  const order = new Map(speakers.map(({ id }, index) => [id, index]));
  return segments.flatMap((segment, index): Paragraph[] => {
    const { speaker_id: id, start, text } = segment;
    const spoken: Paragraph = { kind: 'text', spans: [{ text: clean(text) }] };
    if (index > 0 && !times && segments[index - 1]!.speaker_id === id) return [spoken];
    const name = clean(segment.speaker_name ?? names.get(id ?? '') ?? labels.get(id) ?? 'Speaker 1');
    const colour = VOICES[(order.get(id ?? '') ?? 0) % VOICES.length]!;
    const spans: Span[] = [{ text: name, bold: true, colour }];
    if (times) spans.push({ text: ` ${clock(start ?? 0)}`, colour: QUIET });
    return [{ kind: 'speaker', spans, over: text }, spoken];
  });
}
