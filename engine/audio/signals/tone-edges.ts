import { levelsAboveRumble, STEP_SAMPLES } from '../../loudness.ts';
import { type Recording, SAMPLE_RATE, type Span } from '../../types.ts';

const STEPS_PER_SECOND = SAMPLE_RATE / STEP_SAMPLES;
const CONTEXT_SECONDS = 3; // on either side of a tone, for estimating how quiet the line is
const QUIET_SHARE = 0.1; // of these steps are as quiet as the line
const MIN_ABOVE_QUIET = 8; // dB above it is sound
const MIN_BELOW_TONE = 6; // dB below it is silence: where a tone goes on under a voice, nothing is
const TONE_SECONDS = 0.5; // of a tone, at either end, that show how loud it is
const MIN_SOUND_STEPS = 3; // shorter sounds are clicks
const MAX_DECAY_STEPS = 8; // in which codecs let a tone rise and decay
const MAX_EDGE_STEPS = 60; // extended at most: by so much VAD starts early and ends late
const MIN_CONTEXT_STEPS = 20;
const NEIGHBOURS = 12; // tones on either side that can lie within the context

/** Tones with the silence beside them, in which VAD takes a tone that begins or has ended for speech. What sounds there is left alone. */
export async function withEdges(
  tones: readonly Span[],
  recording: Recording,
  channel: number | 'mix',
  signal?: AbortSignal,
): Promise<Span[]> {
  const wide: Span[] = [];
  for (const [i, { start, end }] of tones.entries()) {
    signal?.throwIfAborted();
    const near = tones.slice(Math.max(0, i - NEIGHBOURS), i + NEIGHBOURS + 1);
    const before = await levelsWithin(recording, channel, Math.max(0, start - CONTEXT_SECONDS), start);
    const after = await levelsWithin(recording, channel, end, end + CONTEXT_SECONDS);
    const outside = (step: number, from: number) => !near.some((tone) => contains(tone, from + step / STEPS_PER_SECOND));
    const line = [
      ...before.filter((_, step) => outside(step, start - before.length / STEPS_PER_SECOND)),
      ...after.filter((_, step) => outside(step, end)),
    ].sort((a, b) => a - b);
    const sound =
      line.length < MIN_CONTEXT_STEPS ? Number.NEGATIVE_INFINITY : line[Math.floor(QUIET_SHARE * line.length)]! + MIN_ABOVE_QUIET;
    const loudest = async (from: number, to: number) => Math.max(...(await levelsWithin(recording, channel, from, to))) - MIN_BELOW_TONE;
    const first = Math.min(sound, await loudest(start, Math.min(end, start + TONE_SECONDS)));
    const last = Math.min(sound, await loudest(Math.max(start, end - TONE_SECONDS), end));
    const edges = { start: start - silence(before.reverse(), first), end: end + silence(after, last) };
    const earlier = wide.at(-1);
    if (earlier && edges.start <= earlier.end) earlier.end = Math.max(earlier.end, edges.end);
    else wide.push(edges);
  }
  return wide;
}

/** Seconds of silence at the beginning of `levels`, after the decay of a tone. */
function silence(levels: Float32Array, sound: number): number {
  const sounds = (step: number) => levels[step]! >= sound;
  let step = 0;
  while (step < MAX_DECAY_STEPS && sounds(step)) step++;
  if (sounds(step)) return 0;
  const isSound = () => Array.from({ length: MIN_SOUND_STEPS }, (_, i) => sounds(step + i)).every(Boolean);
  while (step < Math.min(MAX_EDGE_STEPS, levels.length) && !isSound()) step++;
  return step / STEPS_PER_SECOND;
}

function contains({ start, end }: Span, seconds: number): boolean {
  return seconds >= start && seconds < end;
}

async function levelsWithin(recording: Recording, channel: number | 'mix', start: number, end: number): Promise<Float32Array> {
  return levelsAboveRumble(await recording.read(channel, Math.round(start * SAMPLE_RATE), Math.round(end * SAMPLE_RATE)));
}
