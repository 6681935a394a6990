import t from 'tap';
import type { Rate } from '../../bench/accuracy/measures.ts';
import { speedChart } from '../../bench/plot.ts';
import type { Report } from '../../bench/report.ts';
import { committedReports, resultFiles } from '../../bench/results.ts';

const WER: Rate = {
  rate: 0.06,
  errors: { reference: 1331, substituted: 60, deleted: 10, inserted: 10 },
  interval: [0.045, 0.077],
};

const REPORT: Report = {
  machine: 'A <fast> machine',
  commit: '0123abcd',
  versions: { longhand: '1.1.0', node: '24.0.0', onnxruntime: '1.29.0' },
  model: 'whisper-base',
  device: 'cpu',
  threads: 2,
  at: '2026-11-01T00:00:00.000Z',
  set: 'test',
  seed: 1,
  accuracy: { joined: { ...WER, gap: 2, minutesPerHour: 0.8 } },
};

t.test('resultFiles() write the newest report first, each with its machine, versions, set and seed', async (t) => {
  const page = resultFiles([REPORT, { ...REPORT, at: '2026-11-02T00:00:00.000Z', commit: '4567cdef' }]).get('docs/results.md')!;
  t.ok(page.indexOf('## 2026-11-02, 4567cdef') < page.indexOf('## 2026-11-01, 0123abcd'));
  t.match(page, 'Longhand 1.1.0, Node 24.0.0, onnxruntime 1.29.0; whisper-base on cpu, 2 threads; A <fast> machine; test set, seed 1.');
  t.match(resultFiles([{ ...REPORT, note: 'Without noise.' }]).get('docs/results.md'), '\n\nWithout noise.\n\n| measurement');
  t.match(page, '| WER, joined English speech | 6.0 % of 1331 words (4.5-7.7 %); 10 deleted, at most 2 in a row |');
});

t.test('resultFiles() draw the history and the newest comparison, with every program in its box', async (t) => {
  const difference = { rate: 0.001, interval: [-0.02, 0.013] as [number, number] };
  const row = { wordErrorRate: WER, gap: 2, peakMegabytes: 900 };
  const peers = [
    { ...row, name: 'Longhand', version: null, minutesPerHour: 0.8, range: [0.7, 0.9] as [number, number], ratio: 1 },
    { ...row, name: 'other & <careful>', version: '3.1', minutesPerHour: 4, range: [3.9, 4.1] as [number, number], ratio: 5, difference },
  ];
  const files = resultFiles([REPORT, { ...REPORT, peers }]);
  const chart = files.get('docs/images/rtfx-wer.svg')!;
  t.equal(chart.match(/<rect class="ours"/g)?.length, 1);
  t.match(chart, 'other &amp; &lt;careful>');
  t.match(
    files.get('docs/results.md'),
    '| other & <careful> | 3.1 | 4.00 (3.90-4.10) | 5.00 | 6.0 % of 1331 words (4.5-7.7 %) | +0.1 (95 % interval -2.0 to +1.3) | 2 | 900 |',
  );
  const history = files.get('docs/images/history.svg')!;
  t.equal(history.match(/<rect class="ours"/g)?.length, 2);
  for (const [, y] of history.matchAll(/ y="(-?[\d.]+)"/g)) t.ok(Number(y) > 0 && Number(y) < 400, `${y} is within the image`);
});

t.test('speedChart() draws programs that make no errors', async (t) => {
  const perfect: Rate = { rate: 0, errors: { ...WER.errors, substituted: 0, deleted: 0, inserted: 0 }, interval: [0, 0] };
  const row = { name: 'small', version: null, minutesPerHour: 1, range: [1, 2] as [number, number], gap: 0, peakMegabytes: 900, ratio: 1 };
  const chart = speedChart('a machine', [{ ...row, wordErrorRate: perfect }]);
  t.notMatch(chart, 'NaN');
  t.match(chart, /<rect class="ours"/);
});

t.test('committedReports() name commit, versions, set and seed', async (t) => {
  for (const { commit, versions, accuracy, set, seed, at } of committedReports()) {
    t.match(commit, /^[0-9a-f]{8}$/, `${at}: no uncommitted changes`);
    t.ok(versions.longhand && versions.node && versions.onnxruntime, at);
    if (accuracy) t.ok(set === 'test' && seed, at);
  }
});
