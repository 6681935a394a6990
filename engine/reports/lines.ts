import { clock } from '../../api/contract/text.ts';
import type { ReportTranscript } from './report.ts';
import { estimateTokens } from './tokens.ts';

/** One line of a prompt: a turn of the transcript, or a note on one from an earlier call. */
export interface Line {
  /** Id of the segment it refers to. */
  segment: number;
  speaker: string;
  text: string;
  /** `[segment] mm:ss speaker: text` */
  shown: string;
  tokens: number;
}

const LONGEST = 1200; // characters per line; a longer turn becomes several lines with the same number

/** The turns of a transcript as lines. Long turns are cut between words, so that a line fits a small context. */
export function linesOf(transcript: ReportTranscript): Line[] {
  return transcript.segments
    .filter((segment) => segment.text.trim() !== '')
    .flatMap((segment) => pieces(segment.text).map((text) => toLine(segment.id, segment.start, segment.speaker, text)));
}

/**
 * A line for the segment that starts at `start` seconds. Removes line breaks and angle brackets, so that no text can close the transcript's
 * tag.
 */
export function toLine(segment: number, start: number, speaker: string, text: string): Line {
  const clean = (value: string) => value.replace(/\s+/g, ' ').replaceAll('<', '‹').replaceAll('>', '›').trim();
  const shown = `[${segment}] ${clock(start)} ${clean(speaker)}: ${clean(text)}`;
  return { segment, speaker, text, shown, tokens: estimateTokens(shown) + 1 };
}

/** Groups lines into chunks of at most `budget` tokens, in order and without splitting turns. */
export function chunk(lines: readonly Line[], budget: number): Line[][] {
  const chunks: Line[][] = [];
  let room = 0;
  for (const line of lines) {
    if (line.tokens > room || chunks.length === 0) {
      chunks.push([]);
      room = budget;
    }
    chunks.at(-1)!.push(line);
    room -= line.tokens;
  }
  return chunks;
}

export function tokensOf(lines: readonly Line[]): number {
  return lines.reduce((sum, line) => sum + line.tokens, 0);
}

function pieces(text: string): string[] {
  const found: string[] = [];
  let rest = text.trim();
  while (rest.length > LONGEST) {
    const space = rest.lastIndexOf(' ', LONGEST);
    const cut = space > LONGEST / 2 ? space : LONGEST;
    found.push(rest.slice(0, cut));
    rest = rest.slice(cut).trim();
  }
  return [...found, rest];
}
