import type { Span } from '../types.ts';
import { FIRST_FRAME_SECONDS, FRAME_SECONDS, LOCAL_SPEAKERS } from './pyannote.ts';
import type { Activity } from './segmentation.ts';

/** Sets all speakers inactive in some spans of the recording. */
export function masked(activity: Activity, spans: readonly Span[]): Activity {
  if (!spans.length) return activity;
  const locals = activity.locals.slice();
  for (const { start, end } of spans) {
    const frame = (seconds: number) => Math.ceil((seconds - FIRST_FRAME_SECONDS) / FRAME_SECONDS);
    const [first, last] = [Math.max(0, frame(start)), frame(end)];
    for (const [w, { speech, speakers }] of locals.entries()) {
      const from = Math.max(0, first - w * activity.step);
      const to = Math.min(speech.length, last - w * activity.step);
      if (from >= to) continue;
      const local = {
        speech: speech.slice().fill(0, from, to),
        speakers: speakers.slice().fill(0, from * LOCAL_SPEAKERS, to * LOCAL_SPEAKERS),
      };
      locals[w] = local;
    }
  }
  return { ...activity, locals };
}
