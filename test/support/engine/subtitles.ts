import type { Subtitled } from '../../../api/export/subtitles.ts';

export interface ReadCue {
  start: number;
  end: number;
  lines: string[];
}

const TIME = '(\\d{2,}):([0-5]\\d):([0-5]\\d)';
const ms = ([h, m, s, f]: string[]) => ((Number(h) * 60 + Number(m)) * 60 + Number(s)) * 1000 + Number(f);

/** Parses SubRip as strictly as the strictest players. Throws on anything else. */
export function readSrt(text: string): ReadCue[] {
  if (text === '') return [];
  return text
    .replace(/\n$/, '')
    .split('\n\n')
    .map((block, index) => {
      const [number, times, ...lines] = block.split('\n');
      const match = new RegExp(`^${TIME},(\\d{3}) --> ${TIME},(\\d{3})$`).exec(times!);
      if (number !== String(index + 1) || !match || !lines.length || lines.some((line) => !line || line.includes('-->')))
        throw new Error(`Cannot read cue ${index + 1}: ${block}`);
      return { start: ms(match.slice(1, 5)), end: ms(match.slice(5, 9)), lines: lines.map((line) => line.replace(/[\u202b\u202c]/g, '')) };
    });
}

/** Parses WebVTT: header, cues, escaped text, voice spans that close. Throws on anything else. */
export function readVtt(text: string): ReadCue[] {
  const [head, ...blocks] = text.replace(/\n$/, '').split('\n\n');
  if (head !== 'WEBVTT') throw new Error(`Cannot read WebVTT that begins ${head}`);
  return blocks.map((block) => {
    const [times, ...lines] = block.split('\n');
    const match = new RegExp(`^${TIME}\\.(\\d{3}) --> ${TIME}\\.(\\d{3})$`).exec(times!);
    if (!match || !lines.length) throw new Error(`Cannot read the cue ${block}`);
    const plain = lines.map((line) => {
      const inner = /^<v ([^<>&]|&(amp|lt|gt);)+>(.*)<\/v>$/.exec(line)?.[3] ?? line;
      if (!inner || /[<>]|&(?!(amp|lt|gt);)/.test(inner)) throw new Error(`Cannot read the line ${line}`);
      return inner.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
    });
    return { start: ms(match.slice(1, 5)), end: ms(match.slice(5, 9)), lines: plain };
  });
}

/** A word wider than a line. */
export const LONG = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen';

export const talk = (segments: Subtitled['segments'], rest: Partial<Subtitled> = {}): Subtitled => ({
  language: 'en',
  durationSeconds: 3_600,
  speakers: [
    { id: 'speaker_1', name: null },
    { id: 'speaker_2', name: null },
  ],
  segments,
  ...rest,
});

/** A turn of consecutive words, `rate` seconds each. */
export function turn(id: number, speaker: string | null, start: number, text: string, rate = 0.3) {
  const words = (text.match(/\s*\S+/g) ?? []).map((word, i) => ({
    start: start + i * rate,
    end: start + (i + 1) * rate - 0.02,
    text: word,
  }));
  return { id, start, end: words.at(-1)?.end ?? start, speaker_id: speaker, text, words };
}
