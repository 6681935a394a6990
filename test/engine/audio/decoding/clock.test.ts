import t from 'tap';
import { Clock, type Frame, type Placed } from '../../../../engine/audio/decoding/clock.ts';
import { random } from '../../hostile/bench.ts';

const RATE = 16_000;
const PACKET = 320; // samples: 20 ms
const frame = (lag: number, count = PACKET): Frame => ({ lag, count, samples: new Float32Array(0) });

function place(frames: Frame[], longest = 36_000 * RATE, longestPause?: number, counted?: boolean): Placed[] {
  const clock = new Clock(longest, longestPause, counted);
  return [...frames.flatMap((frame) => [...clock.push(frame)]), ...clock.end()];
}

/** Start of each frame in the output, samples. */
function starts(placed: readonly Placed[]): number[] {
  let at = 0;
  return placed.map(({ silence, count, skip }) => {
    at += silence;
    const start = at;
    at += count - skip;
    return start;
  });
}

const silence = (placed: readonly Placed[]) => placed.reduce((sum, { silence }) => sum + silence, 0);
const skipped = (placed: readonly Placed[]) => placed.reduce((sum, { skip }) => sum + skip, 0);

for (const [share, packets] of [
  [0.01, 30_000],
  [0.05, 180_000],
  [0.2, 30_000],
] as const) {
  t.test(`Clock places every packet of ${packets / 50} s within 20 ms where ${100 * share} % of them are lost`, async (t) => {
    const chance = random(1000 * share);
    const frames: Frame[] = [];
    const true_: number[] = []; // correct position of each received packet
    for (let packet = 0, lost = 0; packet < packets; packet++) {
      if (packet > 0 && chance() < share) lost++;
      else {
        const jitter = Math.round((chance() - 0.5) * 32); // up to 1 ms, as from rounding to milliseconds
        frames.push(frame(lost * PACKET + jitter));
        true_.push(packet * PACKET);
      }
    }
    const found = starts(place(frames));
    // in the last second, losses cannot be distinguished from jitter
    const furthest = found.slice(0, -50).reduce((most, at, i) => Math.max(most, Math.abs(at - true_[i]!)), 0);
    t.ok(furthest <= 0.02 * RATE, `${furthest / RATE} s`);
  });
}

t.test('Clock keeps pauses of any length, and a late start', async (t) => {
  const talk = (lag: number) => Array.from({ length: 100 }, () => frame(lag));
  for (const seconds of [0.1, 0.7, 11 * 60, 9 * 3600]) {
    const placed = place([...talk(0), ...talk(seconds * RATE)]);
    t.equal(placed[100]!.silence, seconds * RATE, `${seconds} s`);
    t.equal(silence(placed), seconds * RATE);
    t.equal(place(talk(seconds * RATE))[0]!.silence, seconds * RATE, `${seconds} s late`);
  }
  t.equal(silence(place([...talk(0), frame(700 * RATE), frame(700 * RATE)])), 700 * RATE, 'including one right before the end');
});

t.test('Clock omits pauses that exceed the longest recording, or the longest plausible pause of a broadcast', async (t) => {
  const talk = (lag: number) => Array.from({ length: 100 }, () => frame(lag));
  const leaps = [0, 2e15, 4000 * RATE, -3e15, 4e3 * RATE].flatMap(talk);
  t.ok(silence(place(leaps, 3600 * RATE)) < 3600 * RATE);
  t.equal(silence(place([...talk(0), ...talk(700 * RATE), ...talk(1000 * RATE)], undefined, 600 * RATE)), 300 * RATE);
});

t.test('Clock treats a jump back as a clock reset: nothing is dropped, and later losses are still filled', async (t) => {
  const talk = (lag: number) => Array.from({ length: 100 }, () => frame(lag));
  const placed = place([...talk(0), ...talk(-30_000), ...talk(-30_000 + 3 * PACKET)]);
  t.equal(skipped(placed), 0);
  t.equal(silence(placed), 3 * PACKET);
  t.equal(placed[200]!.silence, 3 * PACKET);
  t.strictSame(
    starts(place(Array.from({ length: 500 }, (_, i) => frame(-i * PACKET)))),
    starts(place(talk(0).concat(talk(0), talk(0), talk(0), talk(0)))),
    'no times at all',
  );
});

t.test('Clock treats neither jitter nor a clock at twice the speed as a loss', async (t) => {
  const chance = random(7);
  const jitter = place(Array.from({ length: 5000 }, () => frame(Math.round(chance() * 0.15 * RATE))));
  t.ok(silence(jitter) < 0.2 * RATE, `${silence(jitter)}`);
  const twice = place(Array.from({ length: 5000 }, (_, i) => frame(i * PACKET)));
  t.equal(silence(twice), 0);
  t.equal(
    place(Array.from({ length: 300 }, (_, i) => frame(i * 19 * PACKET)))[150]!.silence,
    19 * PACKET,
    'a frame every 0.4 s in a pause is no drift',
  );
});

t.test('Clock takes counted frames that are late by any share of their length for a wrong rate, and later ones, too', async (t) => {
  const counted = (lagOf: (samples: number) => number, lengths = [PACKET]) => {
    let samples = 0;
    const frames = Array.from({ length: 2000 }, (_, i) => {
      const count = lengths[i % lengths.length]!;
      samples += count;
      return frame(Math.round(lagOf(samples - count)), count);
    });
    return place(frames, undefined, undefined, true);
  };
  for (const share of [0.5, 2, 19, 48_000])
    for (const lengths of [[PACKET], [340, 42]])
      t.equal(silence(counted((samples) => samples * share, lengths)), 0, `${share}, frames of ${lengths}`);
  t.equal(silence(counted((samples) => (samples < 10 * RATE ? 0 : 2 * (samples - 10 * RATE)))), 0, 'from 10 s on');
  t.equal(silence(counted((samples) => (samples < 20 * RATE ? 0 : RATE))), RATE, 'a second is missing');
});

t.test('Clock follows a slightly slow or fast clock to within 20 ms', async (t) => {
  for (const drift of [-1e-3, -1e-4, 1e-4, 1e-3]) {
    const frames = Array.from({ length: 30_000 }, (_, i) => frame(Math.round(i * PACKET * drift)));
    const found = starts(place(frames));
    const furthest = found.slice(0, -50).reduce((most, at, i) => Math.max(most, Math.abs(at - i * PACKET * (1 + drift))), 0);
    t.ok(furthest <= 0.02 * RATE, `${drift}: ${furthest / RATE} s`);
  }
});

t.test('Clock returns every sample in order, for arbitrary timestamps, within the longest recording', async (t) => {
  for (let seed = 1; seed <= 50; seed++) {
    const chance = random(seed);
    const frames = Array.from({ length: 400 }, (_, i) => ({
      ...frame(Math.round((chance() - 0.5) * 10 ** (chance() * 15)), 1 + Math.floor(chance() * 5000)),
      samples: Float32Array.of(i),
    }));
    const placed = place(frames, 600 * RATE);
    t.strictSame(
      placed.map(({ samples }) => samples[0]),
      frames.map((_, i) => i),
    );
    const sound = placed.reduce((sum, { count }) => sum + count, 0);
    t.ok(sound + silence(placed) <= 600 * RATE || silence(placed) === 0, `seed ${seed}`);
    t.ok(skipped(placed) <= sound / 100 + 3200, `seed ${seed}: ${skipped(placed)} of ${sound}`);
  }
});
