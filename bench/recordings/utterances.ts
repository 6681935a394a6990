import type { Clip } from './clips.ts';
import { cleanSamples } from './conversations.ts';
import { level, SAMPLE_RATE, scaled } from './sound.ts';
import { speechSpans, type TrueSpan } from './truth.ts';

/** A voice with its sentences, and words short enough for interjections. */
export interface Speaker {
  name: string;
  sentences: Utterance[];
  short: Utterance[];
  /** Relative frequency of this speaker's turns. */
  share: number;
  gain: number;
}

export interface Utterance {
  samples: Float32Array;
  /** Speech activity, by `truth.ts`; seconds from the first sample. */
  spans: TrueSpan[];
}

const LEVEL = 0.05; // of each voice at 1 m, RMS while it speaks
const INTERJECTION = [0.25, 0.9] as const; // seconds
const UTTERANCE = [1, 9] as const; // seconds: longer clips are cut at their pauses
const FADE = 0.01; // seconds

/** All utterances of a voice: its clips cut at pauses, each at `gain` times the usual level. */
export async function speakerOf(name: string, clips: Clip[], share: number, gain: number): Promise<Speaker> {
  const [sentences, short]: [Utterance[], Utterance[]] = [[], []];
  for (const clip of clips) {
    const clean = await cleanSamples(clip);
    const spans = speechSpans(clean);
    const loud = scaled(clean, (gain * LEVEL) / (level(concatenated(clean, spans)) || 1));
    for (const group of grouped(spans)) sentences.push(cutOut(loud, group));
    short.push(...spans.flatMap((span) => firstWord(loud, span)));
  }
  return { name, sentences, short, share, gain };
}

/** Groups adjacent spans up to the maximum length of an utterance; longer ones stay whole. */
function grouped(spans: readonly TrueSpan[]): TrueSpan[][] {
  const groups: TrueSpan[][] = [];
  for (const span of spans) {
    const group = groups.at(-1);
    if (group && span.end - group[0]!.start <= UTTERANCE[1]) group.push(span);
    else groups.push([span]);
  }
  return groups.filter((group) => group.at(-1)!.end - group[0]!.start >= UTTERANCE[0]);
}

/** Start of a span up to a dip in loudness that gives it the length of an interjection; a short enough span is returned whole. */
function firstWord(samples: Float32Array, span: TrueSpan): Utterance[] {
  const [shortest, longest] = INTERJECTION;
  const length = span.end - span.start;
  if (length < shortest) return [];
  if (length <= longest) return [cutOut(samples, [span])];
  const step = SAMPLE_RATE / 50;
  const loudness = (at: number) => level(samples.subarray(Math.round(at * SAMPLE_RATE), Math.round(at * SAMPLE_RATE) + step));
  let dip = { at: span.start + shortest, loud: Number.POSITIVE_INFINITY };
  for (let at = span.start + shortest; at < span.start + longest; at += 0.01) if (loudness(at) < dip.loud) dip = { at, loud: loudness(at) };
  return [cutOut(samples, [{ start: span.start, end: dip.at + 0.01 }])];
}

function cutOut(samples: Float32Array, spans: readonly TrueSpan[]): Utterance {
  const from = Math.max(0, Math.round((spans[0]!.start - FADE) * SAMPLE_RATE));
  const to = Math.min(samples.length, Math.round((spans.at(-1)!.end + FADE) * SAMPLE_RATE));
  const ramp = FADE * SAMPLE_RATE;
  const cut = samples.slice(from, to).map((x, i) => x * Math.min(1, i / ramp, (to - from - 1 - i) / ramp));
  return { samples: cut, spans: spans.map(({ start, end }) => ({ start: start - from / SAMPLE_RATE, end: end - from / SAMPLE_RATE })) };
}

function concatenated(samples: Float32Array, spans: readonly TrueSpan[]): Float32Array {
  const parts = spans.map(({ start, end }) => samples.subarray(Math.round(start * SAMPLE_RATE), Math.round(end * SAMPLE_RATE)));
  return Float32Array.from(parts.flatMap((part) => [...part]));
}
