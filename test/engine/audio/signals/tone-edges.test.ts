import t from 'tap';
import { withEdges } from '../../../../engine/audio/signals/tone-edges.ts';
import { noise, other, recordingOf, sum } from '../voices.ts';

const RATE = 16_000;
const line = noise(1, 0.005); // 5 s

/** A recording of 5 s with a tone of -13 dBFS in some spans, and the beginning of a voice after `voiceAt` seconds. */
function recorded(tones: readonly { start: number; end: number }[], voiceAt = 5) {
  const said = other.subarray(0.34 * RATE); // begins with a word
  const samples = line.map((_, i) => {
    const seconds = i / RATE;
    const sounds = tones.some(({ start, end }) => seconds >= start && seconds < end);
    return (sounds ? 0.3 * Math.sin(2 * Math.PI * 425 * seconds) : 0) + (seconds >= voiceAt ? 0.5 * said[i - voiceAt * RATE]! : 0);
  });
  return recordingOf(sum(line, samples));
}

t.test('withEdges() extends a tone by 0.6 s of silence on either side, and joins those of a busy line', async (t) => {
  const ring = [{ start: 1.5, end: 2.5 }];
  const [wide] = await withEdges(ring, recorded(ring), 'mix');
  t.ok(Math.abs(wide!.start - 0.9) < 0.03 && Math.abs(wide!.end - 3.1) < 0.03, JSON.stringify(wide));
  const busy = Array.from({ length: 4 }, (_, i) => ({ start: i + 0.5, end: i + 1 }));
  const joined = await withEdges(busy, recorded(busy), 'mix');
  t.equal(joined.length, 1);
  t.ok(joined[0]!.start >= 0 && joined[0]!.end > 4.5);
});

t.test('withEdges() ends where a voice begins, and leaves a tone beside it as it is', async (t) => {
  const ring = [{ start: 1.5, end: 2.5 }];
  for (const voiceAt of [2.5, 2.6, 2.8]) {
    const end = (await withEdges(ring, recorded(ring, voiceAt), 'mix'))[0]!.end;
    t.ok(end < voiceAt + 0.05 && end > voiceAt - 0.1, `a voice at ${voiceAt} s: ${end}`);
  }
});

t.test('withEdges() takes nothing for silence that is as loud as the tone, which may go on under a voice', async (t) => {
  const [found] = await withEdges([{ start: 1.5, end: 2.5 }], recorded([{ start: 0, end: 5 }], 2.6), 'mix');
  t.ok(found!.start > 1.49 && found!.end < 2.51, JSON.stringify(found));
});
