/** A stream as ffmpeg lists it. */
export interface Stream {
  index: number;
  type: 'audio' | 'video' | 'subtitle' | 'data' | 'attachment';
  codec: string;
  /** ffmpeg's name: 'mono', '5.1(side)', '10 channels'; empty if unknown. */
  layout: string;
  cover: boolean;
  default: boolean;
  /** Code of two letters, of three if there is none; null if the tag is none or names several. */
  language: string | null;
}

export interface Listing {
  /** ffmpeg's names of the container format, 'mov,mp4,m4a,3gp,3g2,mj2'; empty if none was found. */
  format: string;
  streams: Stream[];
  /** As declared; null if nothing is, also where ffmpeg estimates a duration from the bitrate. */
  durationSeconds: number | null;
  /** Earliest timestamp of any stream. */
  startSeconds: number;
  /** ffmpeg's first error message, if any. */
  complaint: string;
}

const INPUT = /^Input #0, (\S+), from /;
/* The language may be any text, with parentheses and line breaks; what follows the last `: Audio: ` of the line is ffmpeg's. */
const STREAM_START = /^ {2,4}Stream #\d+:\d+(?:\[0x[0-9a-f]+\])?\(/;
const STREAM = /^ {2,4}Stream #\d+:(\d+)(?:\[0x[0-9a-f]+\])?(\(.*)?: (Audio|Video|Subtitle|Data|Attachment|Unknown): (\w+)(.*)$/s;
const START = /^ {2}Duration: [^,]+, start: (-?\d+\.\d+),/;
const DURATION = /^ {2}Duration: (\d+):(\d\d):(\d\d(?:\.\d+)?)/;
const ESTIMATE = /^\[[^\]]+ @ \w+\] Estimating duration from bitrate/; // of its beginning, which may be silent
const ERROR_LINE = /invalid|error|not found|could not|not implemented|moov/i;
const MAX_LINE_CHARACTERS = 4096; // characters kept of the two ends of a line, since tags may have any length
const MAX_STREAMS = 512;

/** Parses ffmpeg's stream listing as it arrives: `Stream #0:1(und): Audio: aac (LC), 44100 Hz, stereo, fltp (default)`. */
export class ListingReader {
  #line = '';
  #format = '';
  #streams = new Map<number, Stream>();
  #durationSeconds: number | null = null;
  #estimated = false;
  #startSeconds = 0;
  #complaint = '';

  push(text: string): void {
    const lines = text.split('\n');
    for (const [i, part] of lines.entries()) {
      this.#line = ends(this.#line + part);
      if (i < lines.length - 1) this.#end();
    }
  }

  listing(): Listing {
    this.#end();
    return {
      format: this.#format,
      streams: [...this.#streams.values()],
      durationSeconds: this.#estimated ? null : this.#durationSeconds,
      startSeconds: this.#startSeconds,
      complaint: this.#complaint,
    };
  }

  #end(): void {
    const line = this.#line;
    if (STREAM_START.test(line) && !STREAM.test(line)) {
      this.#line += '\n'; // the language goes on
      return;
    }
    this.#line = '';
    this.#format ||= INPUT.exec(line)?.[1] ?? '';
    const stream = streamOf(line);
    if (stream && this.#streams.size < MAX_STREAMS && !this.#streams.has(stream.index)) this.#streams.set(stream.index, stream);
    const [, hours, minutes, seconds] = DURATION.exec(line) ?? [];
    if (hours !== undefined) this.#durationSeconds ??= Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
    this.#estimated ||= ESTIMATE.test(line);
    this.#startSeconds ||= Number(START.exec(line)?.[1] ?? 0);
    if (ERROR_LINE.test(line)) this.#complaint ||= firstLine(line);
  }
}

function streamOf(line: string): Stream | null {
  const [, index, language, type, codec, rest = ''] = STREAM.exec(line) ?? [];
  if (index === undefined || type === 'Unknown') return null;
  const layout = / Hz, ([^,]+)/.exec(rest)?.[1]?.trim() ?? '';
  return {
    index: Number(index),
    type: type!.toLowerCase() as Stream['type'],
    codec: codec!,
    layout: layout === '0 channels' ? '' : layout,
    cover: rest.includes('(attached pic)'),
    default: rest.includes('(default)'),
    language: language === undefined ? null : languageOf(language.slice(1, -1)),
  };
}

const NO_LANGUAGE = new Set(['und', 'mul', 'mis', 'zxx']); // ISO 639: undetermined, several, without a code, none

/** The language of a tag in any notation: `deu`, `ger` and `de-AT` are `de`. Null if it is none. */
function languageOf(tag: string): string | null {
  try {
    const { language } = new Intl.Locale(tag.trim().replaceAll('_', '-'));
    return NO_LANGUAGE.has(language) || language.length > 3 ? null : language; // longer: a name, such as `english`
  } catch {
    return null;
  }
}

/** A line without its middle if it is very long. */
function ends(line: string): string {
  const half = MAX_LINE_CHARACTERS / 2;
  return line.length > MAX_LINE_CHARACTERS ? line.slice(0, half) + line.slice(-half) : line;
}

const EXPECTED_ERROR = /not on whitelist|Failed to open codec in avformat_find_stream_info|Last message repeated/; // picture decoders are blocked on purpose

/** ffmpeg's first error message, without memory addresses and the file's path. */
export function firstLine(complaints: string): string {
  const line = complaints.split('\n').find((line) => line.trim() && !EXPECTED_ERROR.test(line)) ?? '';
  return line
    .replace(/\[[^\]]+ @ 0x[0-9a-f]+\] /g, '')
    .replace(/file:\S*: /, '')
    .trim();
}
