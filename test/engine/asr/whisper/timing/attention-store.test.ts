import t from 'tap';
import { AttentionStore, WEIGHTS } from '../../../../../engine/asr/whisper/timing/attention-store.ts';

/** The values after storing and reading them back. */
function kept(values: Float32Array): Float32Array {
  return Float32Array.from(new AttentionStore().keep(values), (share) => WEIGHTS[share]!);
}

t.test('AttentionStore keeps attention to within 6 %', async (t) => {
  const values = Float32Array.from({ length: 3000 }, (_, i) => 2 ** (-i / 100));
  const worst = kept(values).reduce((most, value, i) => Math.max(most, Math.abs(value / values[i]! - 1)), 0);
  t.ok(worst <= 1 / 16, `${worst}`);
  t.ok(worst > 1 / 32, 'the values come close to the limit');
});

t.test('AttentionStore keeps 1 exactly, and stores the smallest values as 2^-31', async (t) => {
  t.strictSame([...kept(Float32Array.of(1, 2 ** -31, 2 ** -40, 0))], [1, 2 ** -31, 2 ** -31, 2 ** -31]);
});

t.test('AttentionStore copies a range of the values, each independently of the previous one', async (t) => {
  const shares = new AttentionStore();
  const values = Float32Array.of(0.5, 0.25, 0.125, 1);
  const [first, second] = [shares.keep(values, 1, 2), shares.keep(values, 2, 2)];
  const floats = (bytes: Uint8Array) => [...bytes].map((share) => WEIGHTS[share]!);
  t.strictSame(
    [floats(first), floats(second)],
    [
      [0.25, 0.125],
      [0.125, 1],
    ],
  );
});
