import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { FRAME_SAMPLES, foldedFrames, MARGIN_SAMPLES } from '../../../../engine/asr/whisper/frames.ts';

const HOP = 160;
const FRAMES = 3000; // 30 s
const WINDOWS = 40;

t.test('foldedFrames() leaves nothing for the garbage collector', async (t) => {
  const sound = new Float32Array(FRAMES * HOP + 2 * MARGIN_SAMPLES).fill(0.5);
  const memory = new Float32Array(FRAMES * FRAME_SAMPLES);
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    collections += list.getEntries().length;
  });
  observer.observe({ entryTypes: ['gc'] });
  for (let i = 0; i < WINDOWS; i++) foldedFrames(sound, HOP, memory);
  await sleep(10); // collections are reported later
  observer.disconnect();
  t.ok(collections < WINDOWS / 4, `${collections} collections for ${WINDOWS} windows`);
});
