import { fileURLToPath } from 'node:url';
import t from 'tap';
import { layoutOf, withoutCrosstalk } from '../../../engine/audio/channels.ts';
import { decode } from '../../../engine/audio/ffmpeg.ts';
import type { Recording, Word } from '../../../engine/types.ts';

const clip = (name: string) => fileURLToPath(new URL(`../../fixtures/audio/${name}`, import.meta.url));

/** A recording in memory. */
function recordingOf(left: Float32Array, right: Float32Array): Recording {
  const channels = [left, right];
  return {
    channels: 2,
    length: left.length,
    decoded: Promise.resolve(left.length),
    read: async (channel, start, end) =>
      (channel === 'mix' ? left.map((x, i) => (x + right[i]!) / 2) : channels[channel]!).slice(start, end),
    close: async () => {},
  };
}

/** The samples of a clip, from `shift` samples on. */
async function voice(name: string, shift = 0): Promise<Float32Array> {
  const recording = await decode(clip(name), { channels: 1 });
  try {
    return await recording.read(0, shift, (await recording.decoded) - 1);
  } finally {
    await recording.close();
  }
}

const speech = (await voice('en_falcon_3spk.wav')).slice(0, 160_000);
const other = (await voice('en_jfk.mp3')).slice(0, 160_000);
const scaled = (samples: Float32Array, gain: number) => samples.map((x) => x * gain);
const sum = (a: Float32Array, b: Float32Array) => a.map((x, i) => x + b[i]!);

t.test('layoutOf() hears a call where each channel has its own voice, also with crosstalk', async (t) => {
  t.equal(await layoutOf(recordingOf(speech, other)), 'call');
  t.equal(await layoutOf(recordingOf(sum(speech, scaled(other, 0.05)), sum(other, scaled(speech, 0.05)))), 'call');
  const recording = await decode(clip('en_faster-whisper_stereo_one-speaker-per-channel.wav'), { channels: 2 });
  t.equal(await layoutOf(recording), 'call');
  await recording.close();
});

t.test('layoutOf() mixes what is the same twice, and two microphones in one room', async (t) => {
  t.equal(await layoutOf(recordingOf(speech, speech)), 'mix');
  t.equal(await layoutOf(recordingOf(speech, scaled(speech, 0.4))), 'mix');
  const late = sum(scaled(speech, 0.8), new Float32Array([...new Float32Array(80), ...speech.subarray(0, speech.length - 80)])); // 5 ms later
  t.equal(await layoutOf(recordingOf(speech, late)), 'mix');
});

t.test('layoutOf() takes the only channel with sound, and one of two in opposite phase', async (t) => {
  const nothing = new Float32Array(speech.length);
  t.equal(await layoutOf(recordingOf(speech, nothing)), 0);
  t.equal(await layoutOf(recordingOf(nothing, speech)), 1);
  t.equal(await layoutOf(recordingOf(scaled(speech, -0.5), speech)), 1);
  t.equal(await layoutOf(recordingOf(nothing, nothing)), 'mix');
});

t.test('layoutOf() says of one channel at once that it is heard as it is, however much of it is still to be decoded', async (t) => {
  const recording: Recording = { ...recordingOf(speech, speech), channels: 1, decoded: new Promise(() => {}) };
  t.equal(await layoutOf(recording), 'mix');
});

t.test('layoutOf() hears a party that speaks for ten seconds of half an hour, whichever they are', async (t) => {
  const silence = new Float32Array(speech.length);
  for (const spoken of [0, 61, 124, 179]) {
    const recording: Recording = {
      channels: 2,
      length: 180 * speech.length,
      decoded: Promise.resolve(180 * speech.length),
      read: async (channel, start) => (channel === 0 ? speech : start === spoken * speech.length ? other : silence).slice(),
      close: async () => {},
    };
    t.equal(await layoutOf(recording), 'call', `${10 * spoken} seconds on`);
  }
});

t.test('layoutOf() takes no notice of a constant offset in the channels', async (t) => {
  const raised = (samples: Float32Array, by: number) => samples.map((x) => x + by);
  for (const [left, right] of [
    [0.1, -0.1],
    [0.1, 0.1],
    [0.3, 0],
  ] as const) {
    t.equal(await layoutOf(recordingOf(raised(scaled(speech, 0.3), left), raised(scaled(other, 0.3), right))), 'call');
    t.equal(await layoutOf(recordingOf(raised(scaled(speech, 0.3), left), raised(scaled(speech, 0.3), right))), 'mix');
    t.equal(await layoutOf(recordingOf(raised(scaled(speech, -0.2), left), raised(scaled(speech, 0.3), right))), 1, 'opposite phase');
  }
});

t.test('withoutCrosstalk() gives a word heard in both channels to the louder', async (t) => {
  const tone = (from: number, to: number, gain: number) =>
    Float32Array.from({ length: 16_000 * 6 }, (_, i) => (i >= from * 16_000 && i < to * 16_000 ? gain * Math.sin(i / 5) : 0));
  const left = sum(tone(0, 2, 0.5), tone(3, 4, 0.02));
  const right = sum(tone(0, 1, 0.01), tone(3, 4, 0.5));
  const word = (start: number, channel: number, text: string): Word => ({ start, end: start + 0.9, text, probability: 1, channel });
  const words = [
    word(0.05, 0, ' Hello,'),
    word(1, 0, ' there.'),
    word(0.1, 1, ' hello'),
    word(3.05, 1, ' Yes.'),
    word(3, 0, ' yes'),
    word(3.1, 0, ' own'),
  ];
  const kept = await withoutCrosstalk(words, recordingOf(left, right));
  t.strictSame(
    kept.map(({ text, channel }) => [text, channel]),
    [
      [' Hello,', 0],
      [' there.', 0],
      [' Yes.', 1],
    ],
  );
  const both = [word(0, 0, ' one'), word(0.2, 1, ' two')];
  t.equal((await withoutCrosstalk(both, recordingOf(tone(0, 2, 0.5), tone(0, 2, 0.4)))).length, 2, 'two who speak at once stay');
});

t.test('withoutCrosstalk() does not take a constant offset in both channels for a leak', async (t) => {
  const raised = (samples: Float32Array) => samples.map((x) => x * 0.3 + 0.1);
  const words = [1.75, 2.4, 2.9, 5.4, 6.3, 8.2].flatMap((start) =>
    [0, 1].map((channel): Word => ({ start, end: start + 0.45, text: ` ${channel}${start}`, probability: 1, channel })),
  );
  const kept = await withoutCrosstalk(words, recordingOf(raised(speech), raised(other)));
  const level = await withoutCrosstalk(words, recordingOf(scaled(speech, 0.3), scaled(other, 0.3)));
  t.strictSame(kept, level);
});

t.test(
  'withoutCrosstalk() drops what came over from the other party however it was understood, and keeps what is said at once',
  async (t) => {
    const late = other.map((x, i) => (i < 80_000 ? 0 : x));
    const word = (channel: number, start: number, end: number, text: string): Word => ({ start, end, text, probability: 1, channel });
    const own = [
      word(0, 1.75, 2.4, ' and'),
      word(0, 2.4, 2.9, ' so'),
      word(0, 2.9, 3.8, ' begins'),
      word(1, 5.4, 5.8, ' what'),
      word(1, 6.3, 6.9, ' country'),
      word(0, 6.3, 6.9, ' this'),
      word(1, 8.2, 8.8, ' ask'),
    ];
    const misheard = [word(1, 2.4, 2.9, ' sew'), word(1, 2.95, 3.7, ' be guns')];
    const kept = await withoutCrosstalk([...own, ...misheard], recordingOf(speech, sum(late, scaled(speech, 0.3))));
    t.strictSame(kept.map(({ text }) => text).sort(), own.map(({ text }) => text).sort());
    const lost = own.filter(({ text }) => text !== ' so');
    const moved = await withoutCrosstalk([...lost, ...misheard], recordingOf(speech, sum(late, scaled(speech, 0.3))));
    t.match(moved.find(({ text }) => text === ' sew')?.channel, 0, 'what was heard of it only where it came over goes back to its party');
  },
);
