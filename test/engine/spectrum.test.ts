import t from 'tap';
import { powerSpectrum } from '../../engine/spectrum.ts';

for (const length of [20, 320, 400, 512, 1024, 4096]) {
  t.test(`powerSpectrum() of ${length} samples is that of the definition`, (t) => {
    const frame = Float64Array.from({ length }, (_, i) => Math.sin(i * i) + 0.3);
    const power = new Float64Array(length / 2 + 1);
    const spectrum = powerSpectrum(length);
    for (let times = 0; times < 2; times++) spectrum(frame, power); // what is left of a frame does not matter
    for (let k = 0; k <= length / 2; k += Math.max(1, length >> 6)) {
      let [re, im] = [0, 0];
      for (let i = 0; i < length; i++) {
        const angle = (-2 * Math.PI * ((k * i) % length)) / length;
        re += frame[i]! * Math.cos(angle);
        im += frame[i]! * Math.sin(angle);
      }
      const wanted = re * re + im * im;
      if (Math.abs(power[k]! - wanted) > 1e-9 * (length + wanted)) t.fail(`bin ${k}: ${power[k]}, not ${wanted}`);
    }
    t.equal(power.length, length / 2 + 1);
    t.end();
  });
}

t.test('powerSpectrum() refuses a length with another prime factor', (t) => {
  t.throws(() => powerSpectrum(28), /Cannot transform 28 samples: 7 has other prime factors than 2, 3 and 5/);
  t.end();
});
