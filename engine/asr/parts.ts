import { levelsAboveRumble } from '../loudness.ts';
import { CERTAINTY_RATE, SAMPLE_RATE, type Span } from '../types.ts';
import type { RecognisedWindow, Recogniser, Spoken, WindowRequest } from './recogniser.ts';

/* Windows in parts. Times are seconds of the window. */

/** A span of a window as a window of its own. */
export function partOf(request: WindowRequest, span: Span): WindowRequest {
  const samples = request.samples.slice(...samplesOf(span));
  return { ...withinSpan(request, span), samples, first: false, leave: undefined };
}

/** The part of a window's request that concerns a span of it. */
export function withinSpan<W extends Pick<WindowRequest, 'speech' | 'certainty'>>(window: W, span: Span): W {
  const certainty = window.certainty?.slice(Math.floor(span.start * CERTAINTY_RATE), Math.ceil(span.end * CERTAINTY_RATE));
  return { ...window, speech: within(window.speech, span), certainty };
}

/** First and last (exclusive) sample of a span. */
export function samplesOf({ start, end }: Span): [from: number, to: number] {
  return [Math.round(start * SAMPLE_RATE), Math.round(end * SAMPLE_RATE)];
}

/** The parts of spans that lie within a span, relative to its start. */
export function within(spans: readonly Span[], stretch: Span): Span[] {
  return spans.flatMap((span) => {
    const start = Math.max(span.start, stretch.start) - stretch.start;
    const end = Math.min(span.end, stretch.end) - stretch.start;
    return end > start ? [{ start, end }] : [];
  });
}

const LONGEST_SHARED_SECONDS = 1.2; // of a word on the border of a span that is replaced: longer ones are stretched (LONGEST_WORD_SECONDS)
const MIN_WORD_SECONDS = 0.06; // of a word pressed between others: no speech is faster

/**
 * Replaces the words of a span by `heard`, relative to its start, if these are at least `times` as many. A word on the border of the span keeps its
 * time, and new words end where it begins, unless it covers most of the span or more of it than a word takes: then it is shortened to the part
 * outside. So are words on both borders that leave too little time for the new ones.
 */
export function replaced(words: readonly Spoken[], stretch: Span, heard: readonly Spoken[], times: number): Spoken[] {
  const middle = ({ start, end }: Spoken) => (start + end) / 2;
  const before = words.filter((word) => middle(word) < stretch.start);
  const after = words.filter((word) => middle(word) >= stretch.end);
  if (heard.length < times * (words.length - before.length - after.length)) return [...words];
  if (!heard.length) return [...before, ...after];
  const isMost = (seconds: number) => seconds > Math.min(LONGEST_SHARED_SECONDS, (stretch.end - stretch.start) / 2);
  const [last, next] = [before.at(-1), after[0]];
  if (last && isMost(last.end - stretch.start)) before[before.length - 1] = { ...last, end: stretch.start };
  if (next && isMost(stretch.end - next.start)) after[0] = { ...next, start: stretch.end };
  const room = () => ({ start: before.at(-1)?.end ?? 0, end: after[0]?.start ?? Number.POSITIVE_INFINITY });
  if (room().end - room().start < MIN_WORD_SECONDS * heard.length) {
    if (last && last.end > stretch.start) before[before.length - 1] = { ...last, end: stretch.start };
    if (next && next.start < stretch.end) after[0] = { ...next, start: stretch.end };
  }
  const moved = heard.map((word) => ({ ...word, start: word.start + stretch.start, end: word.end + stretch.start }));
  return [...before, ...fitted(moved, room()), ...after];
}

/** Words moved into a span, in order; those pressed to its borders keep a length, at the expense of their neighbours. */
function fitted(words: readonly Spoken[], { start, end }: Span): Spoken[] {
  const least = Math.min(MIN_WORD_SECONDS, Math.max(0, end - start) / words.length);
  const placed = words.toReversed();
  let until = end;
  for (const [i, word] of placed.entries()) {
    const stop = Math.min(until, Math.max(word.end, start));
    placed[i] = {
      ...word,
      start: Math.min(Math.max(word.start, start), stop - Math.min(least, word.end - word.start || least)),
      end: stop,
    };
    until = placed[i].start;
  }
  placed.reverse();
  let from = start;
  for (const [i, word] of placed.entries()) {
    const begin = Math.max(word.start, from);
    placed[i] = { ...word, start: begin, end: Math.max(word.end, begin + Math.min(least, words[i]!.end - words[i]!.start || least)) };
    from = placed[i].end;
  }
  return placed;
}

/** The quietest moment in the middle third of a span, seconds; `levels`: loudness every 10 ms. */
export function middleOf({ start, end }: Span, levels: Float32Array): number {
  const third = (end - start) / 3;
  let [best, lowest] = [(start + end) / 2, Number.POSITIVE_INFINITY];
  for (let i = Math.round((start + third) * 100); i + 5 <= Math.min(levels.length, (end - third) * 100); i++) {
    const level = levels.subarray(i, i + 5).reduce((sum, value) => sum + value, 0);
    if (level < lowest) [best, lowest] = [(i + 2.5) / 100, level];
  }
  return best;
}

/** Splits a span into parts of at most `longest` seconds at quiet points. */
export function parts(span: Span, levels: Float32Array, longest: number): Span[] {
  if (span.end - span.start <= longest) return [span];
  const middle = middleOf(span, levels);
  return [...parts({ start: span.start, end: middle }, levels, longest), ...parts({ start: middle, end: span.end }, levels, longest)];
}

/** A recogniser of windows that may be longer than `longest` seconds, which then are recognised in parts, cut at quiet moments. */
export function inParts(recogniser: Recogniser, longest: number): Recogniser {
  return {
    ...recogniser,
    async recognise(request, check) {
      const seconds = request.samples.length / SAMPLE_RATE;
      if (seconds <= longest) return recogniser.recognise(request, check);
      const spans = parts({ start: 0, end: seconds }, levelsAboveRumble(request.samples), longest);
      const heard = await Promise.all(spans.map((span) => recogniser.recognise({ ...partOf(request, span), first: request.first }, check)));
      return joined(heard, spans);
    },
  };
}

/** Parts of a window as one. Its language is that of the part with the most words. */
function joined(heard: readonly RecognisedWindow[], spans: readonly Span[]): RecognisedWindow {
  const longest = heard.reduce((best, part) => (part.words.length > best.words.length ? part : best));
  const words = heard.flatMap(({ words }, i) =>
    words.map((word) => ({ ...word, start: word.start + spans[i]!.start, end: word.end + spans[i]!.start })),
  );
  const count = Math.max(1, words.length);
  return {
    ...longest,
    words,
    noSpeech: Math.min(...heard.map(({ noSpeech }) => noSpeech)),
    meanLogProb: heard.reduce((sum, part) => sum + part.meanLogProb * part.words.length, 0) / count,
    tried: heard.flatMap(({ tried }) => tried),
    uncovered: heard.reduce((sum, part) => sum + part.uncovered, 0),
  };
}
