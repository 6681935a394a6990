import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { type FeatureKind, openFrontEnd } from '../../../../engine/asr/features/log-mel.ts';
import { powerSpectrum } from '../../../../engine/spectrum.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const KINDS: readonly FeatureKind[] = ['nemo80', 'nemo128', 'gigaam-v2', 'gigaam-v3'];
const CLOSE = 1e-3;

/** A rising tone with harmonics, faint noise and pauses: voiced, unvoiced and silent frames, as in speech. */
function signal(samples: number): Float32Array {
  let seed = 7;
  return Float32Array.from({ length: samples }, (_, i) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    const noise = (seed / 0x7fffffff - 0.5) / 50;
    const phase = (i / 16000) * 2 * Math.PI * (120 + i / 200);
    const voiced = i % 4000 < 3000 ? Math.sin(phase) / 4 + Math.sin(5 * phase) / 9 + Math.sin(23 * phase) / 30 : 0;
    return voiced + noise;
  });
}

function byNumpy(kind: FeatureKind, samples: Float32Array): Float32Array | null {
  const { status, stdout } = spawnSync('python3', [join(HERE, 'features.py'), kind], {
    input: Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength),
    maxBuffer: 2 ** 28,
  });
  return status === 0 ? floats(stdout) : null;
}

function floats(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer);
}

const farthest = (a: Float32Array, b: Float32Array) => a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);

for (const kind of KINDS) {
  t.test(`openFrontEnd() computes ${kind} as numpy does`, async (t) => {
    const front = openFrontEnd(kind);
    const samples = signal(8000);
    const stored = floats(readFileSync(join(HERE, `${kind}.f32`))); // features.py KIND < signal(8000)
    const { values, bins, frames } = front(samples);
    t.equal(values.length, bins * frames);
    t.equal(values.length, stored.length);
    t.ok(farthest(values, stored) < CLOSE, `${farthest(values, stored)} from the stored values`);
    const longer = signal(33_333);
    const fresh = byNumpy(kind, longer);
    if (!fresh) return t.comment('python3 with numpy is not installed: only the stored values were compared');
    const again = front(longer).values;
    t.equal(again.length, fresh.length);
    t.ok(farthest(again, fresh) < CLOSE, `${farthest(again, fresh)} from numpy's`);
  });

  t.test(`openFrontEnd() of ${kind} accepts recordings of any length, 0 included`, async (t) => {
    const front = openFrontEnd(kind);
    for (const length of [0, 1, 159, 160, 161, 319, 320, 400, 512, 641]) {
      const { frames, values } = front(signal(length));
      t.equal(values.length % (frames || 1), 0);
      t.ok(values.every(Number.isFinite), `${length} samples`);
    }
  });
}

t.test('powerSpectrum() is the squared magnitude of the DFT, and refuses lengths with large prime factors', async (t) => {
  for (const length of [512, 400, 320, 24, 12]) {
    const frame = Float64Array.from(signal(length));
    const power = new Float64Array(length / 2 + 1);
    powerSpectrum(length)(frame, power);
    for (let k = 0; k <= length / 2; k++) {
      let [re, im] = [0, 0];
      for (const [i, value] of frame.entries()) {
        re += value * Math.cos((2 * Math.PI * k * i) / length);
        im += value * Math.sin((2 * Math.PI * k * i) / length);
      }
      if (Math.abs(power[k]! - (re ** 2 + im ** 2)) > 1e-9) t.fail(`bin ${k} of ${length}`);
    }
  }
  t.throws(() => powerSpectrum(2 * 77), { message: /77 has other prime factors/ });
});
