import type { SubtitleFormat } from '../contract/formats.ts';
import { type Cue, type CueLine, toCues } from './cues.ts';
import { columns, rightToLeft } from './lines.ts';
import type { Talk } from './spoken.ts';

/** A completed transcript as input for subtitles. `name` is a speaker's display name, null if there is none. */
export interface Subtitled extends Talk {
  speakers: readonly { id: string; name: string | null }[];
}

const NAME_COLUMNS = 16; // longer names leave no room for words
const EMBED = '\u202b'; // right-to-left embedding, for players that lay out lines left to right
const POP = '\u202c';

/** SubRip or WebVTT: at most two lines of 42 columns and 7 seconds, no overlaps; speaker changes are marked. */
export async function subtitles(talk: Subtitled, format: SubtitleFormat): Promise<string> {
  const names = new Map(talk.speakers.map((speaker) => [speaker.id, speaker.name]));
  const several = new Set(talk.segments.map((segment) => segment.speaker_id)).size > 1;
  const mark = (speaker: string | null): string => {
    if (!several) return '';
    const name = plain((speaker && names.get(speaker)) ?? '').replaceAll(':', ' ');
    return name && columns(name) <= NAME_COLUMNS ? `${name}: ` : '- ';
  };
  const widths = new Map([null, ...names.keys()].map((speaker) => [speaker, columns(mark(speaker)) + EMBEDDING]));
  const cues = await toCues(talk, { width: (speaker) => widths.get(speaker) ?? EMBEDDING });
  const labels = new Map(talk.speakers.map((speaker, index) => [speaker.id, plain(speaker.name ?? '') || `Speaker ${index + 1}`]));
  return format === 'srt'
    ? subRip(cues, mark)
    : webVtt(cues, mark, (speaker) => (several && speaker ? (labels.get(speaker) ?? null) : null));
}

const EMBEDDING = 2; // EMBED and POP, as counted by some players

function subRip(cues: readonly Cue[], mark: (speaker: string | null) => string): string {
  const shown = (line: CueLine) => {
    const text = (line.change ? mark(line.speaker) : '') + line.text.replaceAll('-->', '→');
    return rightToLeft(text) ? EMBED + text + POP : text;
  };
  return cues.map((cue, index) => `${index + 1}\n${times(cue, ',')}\n${cue.lines.map(shown).join('\n')}\n`).join('\n');
}

/** WebVTT determines the direction from a line's first letter. Every line names its voice. */
function webVtt(cues: readonly Cue[], mark: (speaker: string | null) => string, voice: (speaker: string | null) => string | null): string {
  const shown = (line: CueLine) => {
    const label = voice(line.speaker);
    const text = escaped((line.change ? mark(line.speaker) : '') + line.text);
    return label === null ? text : `<v ${escaped(label)}>${text}</v>`;
  };
  const blocks = cues.map((cue) => `${times(cue, '.')}\n${cue.lines.map(shown).join('\n')}\n`);
  return ['WEBVTT\n', ...blocks].join('\n');
}

function times({ start, end }: Cue, separator: ',' | '.'): string {
  return `${clock(start, separator)} --> ${clock(end, separator)}`;
}

/** Milliseconds as HH:MM:SS,mmm. */
function clock(ms: number, separator: ',' | '.'): string {
  const pad = (value: number, digits: number) => String(Math.floor(value)).padStart(digits, '0');
  return `${pad(ms / 3_600_000, 2)}:${pad((ms / 60_000) % 60, 2)}:${pad((ms / 1000) % 60, 2)}${separator}${pad(ms % 1000, 3)}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function plain(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, ' ').trim();
}
