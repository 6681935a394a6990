import type { Transcription } from '../contract/transcription.ts';
import { MARK } from './text.ts';

type Shown = Pick<
  Transcription,
  'title' | 'created_at' | 'language' | 'duration_seconds' | 'speakers' | 'topics' | 'summary' | 'prompt_results' | 'text'
>;

/**
 * A transcription as Markdown: front matter, title, summary, completed reports, transcript. Begins with a byte-order mark, which some front
 * matter parsers do not accept. `filename` is the name of the upload.
 */
export function markdown(record: Shown, filename: string): string {
  const title = oneLine(record.title ?? '');
  const sections = [
    `# ${title}`,
    section('Summary', record.summary ?? ''),
    ...record.prompt_results
      .filter((report) => report.status === 'completed')
      .map((report) => section(oneLine(report.name ?? report.slug ?? 'Report'), report.text ?? '')),
    section('Transcript', (record.text ?? '').replaceAll('\n', '\n\n')),
  ];
  return `${MARK}${frontMatter(record, filename)}\n${sections.join('\n\n')}\n`;
}

function frontMatter(record: Shown, filename: string): string {
  const fields = {
    title: scalar(record.title),
    date: scalar(record.created_at),
    language: scalar(record.language),
    duration: scalar(record.duration_seconds === null ? null : hours(record.duration_seconds)),
    speakers: list(record.speakers.map((speaker) => speaker.name)),
    topics: list((record.topics ?? []).map((topic) => topic.title)),
    source: scalar(filename),
  };
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${value}`);
  return ['---', ...lines, '---', ''].join('\n');
}

/** A JSON string is a valid YAML scalar if YAML's non-printable characters are escaped as well. */
function scalar(value: string | null): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function list(values: readonly string[]): string {
  return `[${values.map(scalar).join(', ')}]`;
}

function section(name: string, text: string): string {
  return text.trim() ? `## ${name}\n\n${withoutHeadings(text.trim())}` : `## ${name}`;
}

/** Escapes lines that Markdown would interpret as headings or their underlines. */
function withoutHeadings(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/^([ \t]*)(#{1,6})(?=[ \t]|$)/gm, '$1\\$2')
    .replace(/^( {0,3})(=+|-+)(?=[ \t]*$)/gm, '$1\\$2');
}

/** Seconds as H:MM:SS, rounded down. */
function hours(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\u0085\u2028\u2029]+/g, ' ').trim();
}
