import { clock } from '../../api/contract/text.ts';
import type { ReportSegment, ReportTranscript } from './report.ts';
import type { Report } from './shapes.ts';

const QUOTED = /["“«„‟「『]([^"“”«»„‟「」『』\n]+)["”»“」』]/g;
const QUOTE_WORDS = 4; // shorter quotations are terms, not statements
const BRACKETED_TIME = /(?<!\s)\s*[[(](\d{1,3}:\d{2}(?::\d{2})?)(?:\s*[-–—]\s*(\d{1,3}:\d{2}(?::\d{2})?))?[\])]/g;
const BARE_TIME = /(?<![\d:])\d{1,3}:\d{2}(?::\d{2})?(?![\d:])/g;

/** Looks up in the transcript where words were said and when somebody spoke. */
export interface Evidence {
  segment(id: number): ReportSegment | undefined;
  /** The segment in which these words begin, `preferred` if it contains them; undefined if they were not said. */
  find(words: string, preferred?: number): ReportSegment | undefined;
  /** Whether somebody speaks at this time (seconds), and whether exactly these characters were said. */
  spokenAt(seconds: number): boolean;
  says(characters: string): boolean;
}

export function evidenceOf(transcript: ReportTranscript): Evidence {
  const byId = new Map(transcript.segments.map((segment) => [segment.id, segment]));
  const plain = transcript.segments.map((segment) => letters(segment.text));
  const starts: number[] = [];
  let length = 0;
  for (const text of plain) {
    starts.push(length);
    length += text.length;
  }
  const all = plain.join('');
  const raw = transcript.segments.map((segment) => segment.text).join('\n');
  const indexOf = new Map(transcript.segments.map((segment, index) => [segment.id, index]));
  const locate = (offset: number) => transcript.segments[starts.findLastIndex((start) => start <= offset)];
  return {
    segment: (id) => byId.get(id),
    find: (words, preferred) => {
      const parts = words
        .split(/…|\.\.\./)
        .map(letters)
        .filter((part) => part !== '');
      if (parts.length === 0) return undefined;
      const at = preferred === undefined ? undefined : indexOf.get(preferred);
      return search(all, parts, at === undefined ? 0 : starts[at]!, locate) ?? search(all, parts, 0, locate);
    },
    spokenAt: (seconds) => transcript.segments.some((segment) => seconds >= Math.floor(segment.start) && seconds <= Math.ceil(segment.end)),
    says: (characters) => raw.includes(characters),
  };
}

/** Removes every quotation and time from a report that is not in the transcript, and counts them. */
export function ground(report: Report, evidence: Evidence): { text: string; dropped: number } {
  const counter = { dropped: 0 };
  const blocks = report.sections.map((section) => {
    const items = section.items.flatMap((item) => printed(item, section.style, evidence, counter) ?? []);
    const heading = section.heading.replace(/[*#\n]+/g, ' ').trim();
    if (items.length === 0) return '';
    return `${heading === '' ? '' : `**${heading}**\n\n`}${items.join(section.style === 'text' ? '\n\n' : '\n')}`;
  });
  return { text: blocks.filter((block) => block !== '').join('\n\n'), dropped: counter.dropped };
}

/** The same for a report in prose. */
export function groundProse(text: string, evidence: Evidence): { text: string; dropped: number } {
  const counter = { dropped: 0 };
  const lines = text.split('\n').map((line) => ({ line, kept: checked(line.replace(/^#{1,6}\s+(.*)$/, '**$1**'), evidence, counter) }));
  const left = lines.filter(({ line, kept }) => line.trim() === '' || kept.trim() !== '').map(({ kept }) => kept);
  return {
    text: left
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
    dropped: counter.dropped,
  };
}

function printed(
  item: Report['sections'][number]['items'][number],
  style: 'list' | 'text',
  evidence: Evidence,
  counter: { dropped: number },
): string | null {
  const text = checked(
    item.text
      .replace(/\s+/g, ' ') // first, because a model may produce endless blanks
      .replace(/ ?\[\d{1,6}\]/g, '')
      .replace(/^[-*•#]\s*/, '')
      .trim(),
    evidence,
    counter,
  );
  const wanted = item.quote.replace(/\s+/g, ' ').replace(/^["“«„ ]+|(?<!["”»“ ])["”»“ ]+$/g, '');
  let source = item.segment > 0 ? evidence.segment(item.segment) : undefined;
  if (item.segment > 0 && source === undefined) counter.dropped++;
  let quote = '';
  if (wanted !== '') {
    const said = evidence.find(wanted, source?.id);
    if (said === undefined) counter.dropped++;
    else [quote, source] = [wanted, said];
  }
  if (text === '' && quote === '') return null;
  const words = [text, quote === '' || text.includes(quote) ? '' : `“${quote}”`]
    .filter((part) => part !== '')
    .join(text === '' || style === 'text' ? ' ' : ' — ');
  if (style === 'text') return quote === '' || source === undefined ? words : `${words} (${source.speaker}, ${clock(source.start)})`;
  return `- ${words}${source === undefined ? '' : ` [${clock(source.start)}, ${source.speaker}]`}`;
}

/** Removes sentences with quotations that were not said, and times at which nobody spoke. */
function checked(text: string, evidence: Evidence, counter: { dropped: number }): string {
  const sentences = text.split(/(?<=[.!?。！？])\s+(?=[^\p{Ll}])/u).filter((sentence) => {
    const invented = [...sentence.matchAll(QUOTED)].some(
      ([, words]) => words!.trim().split(/\s+/).length >= QUOTE_WORDS && evidence.find(words!) === undefined,
    );
    const misdated = [...sentence.replace(BRACKETED_TIME, '').matchAll(BARE_TIME)].some(([time]) => !plausible(time, evidence));
    if (invented || misdated) counter.dropped++;
    return !invented && !misdated;
  });
  return sentences.join(' ').replace(BRACKETED_TIME, (whole, from: string, to: string | undefined) => {
    if ([from, to ?? from].every((time) => evidence.spokenAt(seconds(time)))) return whole;
    counter.dropped++;
    return '';
  });
}

/** Whether a time in prose is a moment of the recording, a time of day that was said, or a full or half hour that was said in words. */
function plausible(time: string, evidence: Evidence): boolean {
  return evidence.spokenAt(seconds(time)) || evidence.says(time) || evidence.says(time.replace(':', '.')) || /^\d{1,2}:[03]0$/.test(time);
}

function seconds(time: string): number {
  return time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
}

/** Letters and digits only, so that differences in punctuation and spacing do not invalidate a quotation. */
function letters(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('ё', 'е')
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

/** Searches for the parts in order, each soon after the previous one. */
function search(
  all: string,
  parts: string[],
  from: number,
  locate: (offset: number) => ReportSegment | undefined,
): ReportSegment | undefined {
  const first = all.indexOf(parts[0]!, from);
  if (first < 0) return undefined;
  let at = first + parts[0]!.length;
  for (const part of parts.slice(1)) {
    const next = all.indexOf(part, at);
    if (next < 0 || next - at > 400) return undefined;
    at = next + part.length;
  }
  return locate(first);
}
