import t from 'tap';
import { openFrontEnd } from '../../../../engine/asr/features/log-mel.ts';

const RATE = 16_000;

/** Level of a tone of `hertz` after halving, in dB, away from the ends. */
function levelOf(hertz: number): number {
  const tone = Float32Array.from({ length: RATE }, (_, i) => Math.sin((2 * Math.PI * hertz * i) / RATE));
  const { values } = openFrontEnd('samples8k')(tone);
  const inner = values.subarray(100, -100);
  return 10 * Math.log10(2 * (inner.reduce((sum, value) => sum + value * value, 0) / inner.length));
}

t.test('samples8k keeps what a telephone carries, and lets nothing above 4.4 kHz alias into it', async (t) => {
  for (const hertz of [100, 1000, 2000, 3000, 3400]) t.ok(Math.abs(levelOf(hertz)) < 0.1, `${hertz} Hz: ${levelOf(hertz)} dB`);
  for (const hertz of [4400, 5000, 6500, 7900]) t.ok(levelOf(hertz) < -55, `${hertz} Hz: ${levelOf(hertz)} dB`);
});

t.test('samples8k halves the number of samples and delays nothing', async (t) => {
  const click = new Float32Array(1001);
  click[500] = 1;
  const { values, frames, bins } = openFrontEnd('samples8k')(click);
  t.match({ frames, bins }, { frames: 501, bins: 1 });
  t.equal(values.indexOf(Math.max(...values)), 250);
  t.equal(openFrontEnd('samples8k')(new Float32Array(0)).frames, 0);
});
