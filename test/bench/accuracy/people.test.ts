import t from 'tap';
import { conversation } from '../../../bench/recordings/conversations.ts';
import { paced, SAMPLE_RATE } from '../../../bench/recordings/sound.ts';

const READER = 'librispeech:3080';

t.test('conversation() uses the given voices', async (t) => {
  const { turns, speakers } = await conversation(1, { speakers: 1, seconds: 12, cast: [READER] });
  t.equal(speakers, 1);
  t.strictSame([...new Set(turns.map(({ speaker }) => speaker))], [READER]);
});

t.test('conversation() changes the pace of every clip if requested, and its reference accordingly', async (t) => {
  const [plain, varied] = await Promise.all([
    conversation(1, { speakers: 1, seconds: 12, cast: [READER] }),
    conversation(1, { speakers: 1, seconds: 12, cast: [READER], varied: true }),
  ]);
  const lengths = ({ said }: typeof plain) => said.map(({ start, end }) => end - start);
  const [first, other] = [lengths(plain)[0]!, lengths(varied)[0]!];
  t.equal(plain.said[0]!.transcript, varied.said[0]!.transcript);
  t.not(first.toFixed(2), other.toFixed(2));
  t.ok(Math.abs(other / first - 1) < 0.06, `${other} s instead of ${first} s`);
});

t.test('paced() raises the pitch of a tone when it shortens it', async (t) => {
  const tone = Float32Array.from({ length: SAMPLE_RATE }, (_, i) => Math.sin((2 * Math.PI * 200 * i) / SAMPLE_RATE));
  const faster = paced(tone, 1.25);
  t.equal(faster.length, 0.8 * SAMPLE_RATE);
  const crossings = faster.filter((x, i) => i > 0 && faster[i - 1]! < 0 && x >= 0).length;
  t.ok(Math.abs(crossings - 200) <= 1, `${crossings} periods in 0.8 s`);
});
