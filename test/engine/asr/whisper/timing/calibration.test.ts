import { readFileSync } from 'node:fs';
import t from 'tap';
import type { ConfidenceResults } from '../../../../../bench/accuracy/reliability.ts';
import { calibrated, logistic, logit, uncalibrated } from '../../../../../engine/asr/whisper/timing/calibration.ts';
import { WHISPER_BASE_THRESHOLDS } from '../../../../../models/thresholds.ts';

const BASE = WHISPER_BASE_THRESHOLDS.confidence;
const STEPS = Array.from({ length: 1001 }, (_, i) => i / 1000);

t.test('calibrated() is strictly increasing and lies between 0 and 1', async (t) => {
  const values = STEPS.map((step) => calibrated(step, BASE));
  t.ok(
    values.every((value, i) => i === 0 || value > values[i - 1]!),
    'a more probable word never has a lower confidence',
  );
  t.ok(
    [...values, calibrated(-1, BASE), calibrated(2, BASE), calibrated(Number.NaN, BASE)].every((value) => value > 0 && value < 1),
    String([values[0], values.at(-1)]),
  );
  t.equal(calibrated(Number.NaN, BASE), calibrated(0, BASE), 'what is no number is improbable');
});

t.test('uncalibrated() is the inverse of calibrated()', async (t) => {
  const far = STEPS.slice(1, -1).filter((step) => Math.abs(uncalibrated(calibrated(step, BASE), BASE) - step) > 1e-9);
  t.strictSame(far, []);
});

t.test('logistic() is the inverse of logit()', async (t) => {
  t.equal(logistic(0), 0.5);
  t.ok(Math.abs(logit(0.8) - Math.log(4)) < 1e-12);
  const far = STEPS.slice(1, -1).filter((step) => Math.abs(logistic(logit(step)) - step) > 1e-12);
  t.strictSame(far, []);
});

t.test('calibrated() is the map that was fitted and measured', async (t) => {
  t.equal(calibrated(0.5, BASE).toFixed(4), '0.5382');
  t.equal(calibrated(0.9, BASE).toFixed(4), '0.9237');
  const path = new URL('../../../../../bench/results/confidence.json', import.meta.url);
  const { map, test }: ConfidenceResults = JSON.parse(readFileSync(path, 'utf8'));
  t.ok(Math.abs(map.slope - BASE.slope) < 0.001 && Math.abs(map.intercept - BASE.intercept) < 0.001, JSON.stringify(map));
  t.ok(test.after.ece < test.before.ece && test.after.brier < test.before.brier, 'better on recordings that it was not fitted to');
  t.ok(test.after.ece < 0.05, String(test.after.ece));
});
