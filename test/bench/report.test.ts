import t from 'tap';
import type { PeerRow } from '../../bench/peers/comparison.ts';
import { chart, compare, type Report, table } from '../../bench/report.ts';

const ERRORS = { reference: 200, substituted: 9, deleted: 6, inserted: 5 };

function program(name: string, other: Partial<PeerRow>): PeerRow {
  const wordErrorRate = { rate: 0.1, errors: ERRORS, interval: [0.08, 0.12] as [number, number] };
  return { name, version: null, minutesPerHour: 1, range: [1, 2], wordErrorRate, gap: 2, peakMegabytes: 900, ratio: 1, ...other };
}

const report: Report = {
  machine: 'A <fast> & small machine',
  model: 'whisper-base',
  device: 'cpu',
  threads: 2,
  at: '2026-01-01T00:00:00.000Z',
  minutes_per_hour: { recognition: 0.5, diarization: 0.25, total: 0.8 },
  peak_rss_mb: 1200,
  wer: 0.09,
  commit: '0123abcd',
  versions: { longhand: '1.1.0', node: '20.20.2', onnxruntime: '1.29.0' },
  peers: [
    program('Longhand', { minutesPerHour: 0.5, peakMegabytes: 1200 }),
    program('other & <careful>', { version: '3.1', minutesPerHour: 4, ratio: 8, difference: { rate: -0.004, interval: [-0.011, 0.002] } }),
  ],
};

t.test('chart() draws a bar for every measurement, proportional to its time', async (t) => {
  const svg = chart(report);
  const bars = [...svg.matchAll(/<rect x="260" y="\d+" width="([\d.]+)"/g)].map(([, width]) => Number(width));
  t.strictSame(bars, [84, 52.5, 420]);
  t.notMatch(svg.replace(/<\/?(svg|rect|text)\b[^<>]*>/g, ''), /</, 'markup in names is escaped');
  t.equal(svg.match(/<text/g)?.length, svg.match(/<\/text>/g)?.length);
});

t.test('table() has a row for every peer with its relative time', async (t) => {
  t.match(table(report), /other & <careful> \(3\.1\) +4\.00 min\/h, relative time 8\.00, 900 MB/);
  t.match(table(report), /WER 10\.0 % of 200 words \(95 % interval 8\.0 to 12\.0 %\); 6 deleted, at most 2 in a row/);
  t.match(table(report), /WER minus that of Longhand: -0\.4 \(95 % interval -1\.1 to \+0\.2\)/);
});

t.test('table() shows the share of time of each model and its operators', async (t) => {
  const parts = [
    { network: 'encoder', operator: 'MultiHeadAttention', seconds: 50 },
    { network: 'decoder', operator: 'MatMulInteger', seconds: 30 },
  ];
  const text = table({ ...report, profile: { seconds: 100, parts } });
  t.match(text, /encoder: MultiHeadAttention +50\.00 s \(50\.0 %\)/);
  t.match(text, /decoder, in all +30\.00 s \(30\.0 %\)/);
  t.match(text, /JavaScript, copying, counting +20\.00 s \(20\.0 %\)/);
});

t.test('table() shows only the accuracy figures that were measured', async (t) => {
  const errors = { reference: 200, substituted: 30, deleted: 10, inserted: 4 };
  const accuracy = {
    languages: [{ language: 'de', rate: 0.19, detected: '5/5' }],
    foreign: { rate: 0.22, errors, interval: [0.18, 0.27] as [number, number] },
  };
  const lines = table({ ...report, peers: [], accuracy }).split('\n');
  t.match(lines.slice(lines.indexOf('Accuracy')), [
    'Accuracy',
    /error rate, de +19\.0 %; language right 5\/5/,
    /all other languages +22\.0 % of 200 words \(95 % interval 18\.0 to 27\.0 %\)/,
    '',
  ]);
  t.equal(lines.filter((line) => line.startsWith('  ')).length, 2);
});

t.test('table() shows the omitted words, the longest omission, and the omissions in quiet speech', async (t) => {
  const errors = { reference: 200, substituted: 9, deleted: 6, inserted: 5 };
  const rate = { rate: 0.1, errors, interval: [0.08, 0.12] as [number, number] };
  const accuracy = {
    joined: { ...rate, gap: 2, minutesPerHour: 0.7 },
    quiet: { loud: rate, quiet: { ...rate, rate: 0.11, errors: { ...errors, deleted: 8 } } },
  };
  const text = table({ ...report, peers: [], accuracy });
  t.match(text, /joined speech +10\.0 % of 200 words \(95 % interval 8\.0 to 12\.0 %\); 6 deleted, at most 2 in a row; 0\.70 min\/h/);
  t.match(text, /-60 dBFS +10\.0 % \/ 11\.0 % \(6 \/ 8 deleted of 200\)/);
});

t.test('table() shows the number of speakers detected and the interjections kept', async (t) => {
  const people = [{ what: '20 speak', files: 3, right: 2, off: 1, given: 3 }];
  const kept = { count: 20, turns: 12, heard: 8, right: 7 };
  const text = table({ ...report, accuracy: { people, interjections: { over: kept, pauses: { ...kept, right: 8 } } } });
  t.match(text, /people of both sets, 20 speak +right in 2 of 3, 1 too many or too few; 3 of 3 with their number given/);
  t.match(text, /over another's speech +12 of 20 have a turn; 8 written, 7 of them with the right speaker/);
  t.match(text, /in pauses of another +12 of 20 have a turn; 8 written, 8 of them/);
});

t.test('compare() shows regressions in percent', async (t) => {
  const before: Report = { ...report, minutes_per_hour: { recognition: 0.4, diarization: 0.25, total: 0.8 }, wer: 0.1 };
  const text = compare(report, before);
  t.match(text, /recognition, min\/h +0\.400 -> 0\.500 +\(\+25\.0 %\)/);
  t.match(text, /word error rate +0\.100 -> 0\.090 +\(-10\.0 %\)/);
  t.notMatch(text, /diarization error rate/, 'values that were not measured are omitted');
});

t.test('compare() shows a figure that was 0 before, and names settings that differ', async (t) => {
  const accuracy = (rate: number) => ({ languages: [{ language: 'sv', rate, detected: '1/1' }] });
  const before: Report = { ...report, wer: 0, set: 'tuning', seed: 1, accuracy: accuracy(0) };
  const text = compare({ ...report, wer: 0, set: 'test', seed: 1, accurate: true, accuracy: accuracy(0.2) }, before);
  t.match(text, /error rate, sv +0\.000 -> 0\.200 +\(from 0\)/);
  t.match(text, /word error rate +0\.000 -> 0\.000 +\(both 0\)/);
  t.match(text, '\n  another set: tuning -> test\n');
  t.match(text, '\n  another decoding: greedy -> beam search\n');
  t.notMatch(text, /another (model|seed)/);
});
