import t from 'tap';
import { telephoneBuzz } from '../../../../bench/recordings/noises.ts';
import { level } from '../../../../bench/recordings/sound.ts';
import { withoutHum } from '../../../../engine/audio/signals/notched.ts';
import { type Recording, SAMPLE_RATE } from '../../../../engine/types.ts';

const SECONDS = 70;

/** A recording of two channels by the time of each sample. `reads`: how many samples were read. */
function recording(...channels: ((time: number) => number)[]): Recording & { reads: number } {
  const samples = channels.map((at) => Float32Array.from({ length: SECONDS * SAMPLE_RATE }, (_, i) => at(i / SAMPLE_RATE)));
  const length = SECONDS * SAMPLE_RATE;
  return {
    channels: channels.length,
    length,
    decoded: Promise.resolve(length),
    reads: 0,
    async read(channel, start, end, room) {
      const part = samples[channel === 'mix' ? 0 : channel]!.slice(start, end);
      this.reads += part.length;
      if (!room) return part;
      room.set(part);
      return room.subarray(0, part.length);
    },
    close: async () => {},
  };
}

const whistle = (time: number) => 0.3 * Math.sin(2 * Math.PI * 997.4 * time);
/** Sweeps from 200 to 3000 Hz each second, as no hum does. */
const sweep = (time: number) => 0.1 * Math.sin(2 * Math.PI * (200 * (time % 1) + 1400 * (time % 1) ** 2));

t.test('withoutHum() removes a whistle from the first sample to the last, and leaves other sound as it was', async (t) => {
  const clean = withoutHum(recording((time) => whistle(time) + sweep(time)));
  const found = await clean.read(0, 0, SECONDS * SAMPLE_RATE);
  t.equal(found.length, SECONDS * SAMPLE_RATE);
  const rest = found.map((x, i) => x - sweep(i / SAMPLE_RATE));
  const loudest = Math.max(
    ...Array.from({ length: SECONDS }, (_, second) => level(rest.subarray(second * SAMPLE_RATE, (second + 1) * SAMPLE_RATE))),
  );
  t.ok(loudest < 0.02, `${loudest}: the whistle had ${(0.3 / Math.SQRT2).toFixed(2)}`);
});

t.test('withoutHum() gives the same samples however they are read', async (t) => {
  const clean = withoutHum(recording((time) => whistle(time) + sweep(time)));
  const whole = await clean.read('mix', 25 * SAMPLE_RATE, 35 * SAMPLE_RATE);
  const room = new Float32Array(10 * SAMPLE_RATE);
  for (let at = 0; at < 10; at++) {
    const start = (25 + at) * SAMPLE_RATE;
    const part = await clean.read('mix', start, start + SAMPLE_RATE, room.subarray(at * SAMPLE_RATE, (at + 1) * SAMPLE_RATE));
    t.equal(part.buffer, room.buffer, 'in the given memory');
  }
  const difference = whole.map((x, i) => x - room[i]!);
  t.ok(level(difference) < 1e-3, `${level(difference)}`);
});

t.test('withoutHum() gives the same samples at the beginning, too, and finds the lines of a block once', async (t) => {
  const raw = recording((time) => whistle(time) + sweep(time));
  const clean = withoutHum(raw);
  const whole = await clean.read(0, 0, SAMPLE_RATE);
  const before = raw.reads;
  for (let start = 0; start < SAMPLE_RATE; start += SAMPLE_RATE / 4) {
    const part = await clean.read(0, start, start + SAMPLE_RATE / 4);
    t.ok(level(part.map((x, i) => x - whole[start + i]!)) < 1e-3, `from ${start / SAMPLE_RATE} s`);
  }
  t.ok(raw.reads - before < 10 * SAMPLE_RATE, `${raw.reads - before} for four quarters of a second`);
});

t.test('withoutHum() filters a channel, and half a minute of it, by their own lines', async (t) => {
  const late = (time: number) => (time < 30 ? 0 : whistle(time)) + sweep(time);
  const clean = withoutHum(recording(late, sweep));
  const found = await clean.read(0, 25 * SAMPLE_RATE, 35 * SAMPLE_RATE);
  const rest = found.map((x, i) => x - sweep(25 + i / SAMPLE_RATE));
  t.ok(level(rest.subarray(0, 5 * SAMPLE_RATE)) < 1e-6, 'up to the whistle');
  t.ok(level(rest.subarray(5 * SAMPLE_RATE)) < 0.02, `${level(rest.subarray(5 * SAMPLE_RATE))}`);
  const other = await clean.read(1, 40 * SAMPLE_RATE, 41 * SAMPLE_RATE);
  t.ok(level(other.map((x, i) => x - sweep(40 + i / SAMPLE_RATE))) < 1e-6, 'of the channel without a whistle');
});

t.test('withoutHum() removes the buzz of a mobile telephone from each of its bursts, and leaves what is between them', async (t) => {
  for (const [on, off] of [
    [3, 4],
    [0.12, 0.28],
  ] as const) {
    const sounds = (time: number) => time % (on + off) < on;
    const buzz = (time: number) => (sounds(time) ? telephoneBuzz(time) : 0);
    const clean = withoutHum(recording((time) => buzz(time) + sweep(time)));
    const found = await clean.read(0, 0, SECONDS * SAMPLE_RATE);
    const rest = found.map((x, i) => x - sweep(i / SAMPLE_RATE));
    const before = level(
      Float32Array.from(
        rest.filter((_, i) => sounds(i / SAMPLE_RATE)),
        (_, i) => telephoneBuzz(i / SAMPLE_RATE),
      ),
    );
    const during = level(rest.filter((_, i) => sounds(i / SAMPLE_RATE)));
    const between = level(rest.filter((_, i) => !sounds(i / SAMPLE_RATE)));
    t.ok(during < before / 4, `${during} of ${before} in bursts of ${on} s`);
    t.ok(between < before / 4, `${between} of ${before} in pauses of ${off} s`);
    const parts = await clean.read(0, 10.01 * SAMPLE_RATE, 13.37 * SAMPLE_RATE);
    const difference = parts.map((x, i) => x - found[10.01 * SAMPLE_RATE + i]!);
    t.ok(level(difference) < 1e-3, `${level(difference)} from another reading`);
  }
});

t.test('withoutHum() removes both a hum and the buzz of a mobile telephone beside it', async (t) => {
  const clean = withoutHum(recording((time) => whistle(time) + (time % 4 < 2 ? telephoneBuzz(time) : 0) + sweep(time)));
  const found = await clean.read(0, 30 * SAMPLE_RATE, 40 * SAMPLE_RATE);
  const rest = level(found.map((x, i) => x - sweep(30 + i / SAMPLE_RATE)));
  t.ok(rest < 0.03, `${rest}: the whistle had ${(0.3 / Math.SQRT2).toFixed(2)}`);
});

t.test('withoutHum() removes a constant offset from half the level of the sound on, also beside a whistle', async (t) => {
  const rms = 0.1 / Math.SQRT2; // of the sweep
  const left = async (at: (time: number) => number) => {
    const found = await withoutHum(recording(at)).read(0, 0, SECONDS * SAMPLE_RATE);
    return found.reduce((sum, x) => sum + x, 0) / found.length;
  };
  for (const offset of [0.9, -0.9, 0.6 * rms, 30])
    t.ok(Math.abs(await left((time) => sweep(time) + offset)) < 1e-3 * Math.abs(offset), `${offset}`);
  t.ok(Math.abs(await left((time) => sweep(time) + whistle(time) + 0.9)) < 0.01, 'with a whistle');
  const small = await left((time) => sweep(time) + 0.4 * rms);
  t.ok(Math.abs(small - 0.4 * rms) < 1e-4, `less is left as it is: ${small}`);
  const rounding = await left((time) => 1e-3 * sweep(time) + 5e-4);
  t.ok(Math.abs(rounding - 5e-4) < 1e-5, `so is what comes from rounding: ${rounding}`);
});

t.test('withoutHum() tells of a recording what it tells of itself', async (t) => {
  const own = { origins: [0, 1], surround: [], mixes: [{ start: 1, end: 2 }] };
  const raw = Object.assign(recording(sweep, sweep), own) as Recording;
  t.match(withoutHum(raw), { channels: 2, length: raw.length, ...own });
});

t.test('withoutHum() changes no sample of other recordings, and reads each of theirs no more than twice and a little', async (t) => {
  const raw = recording(sweep);
  const clean = withoutHum(raw);
  const found = await clean.read(0, SAMPLE_RATE, 59 * SAMPLE_RATE);
  t.ok(raw.reads < 126 * SAMPLE_RATE, `${raw.reads}`);
  t.strictSame(Buffer.from(found.buffer), Buffer.from((await raw.read(0, SAMPLE_RATE, 59 * SAMPLE_RATE)).buffer));
  t.equal(clean.length, raw.length);
});
