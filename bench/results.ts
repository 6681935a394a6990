/**
 * Writes docs/results.md and its charts from the reports in bench/results, which `scripts/longhand bench --save` writes:
 *   node --import tsx bench/results.ts
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Rate } from './accuracy/measures.ts';
import { historyChart, speedChart } from './plot.ts';
import { differenceText, type Report } from './report.ts';

const ROOT = new URL('../', import.meta.url);
const FOLDER = new URL('bench/results/', ROOT);

const percent = (x: number) => `${(100 * x).toFixed(1)} %`;
const time = (minutes: number) => `${minutes.toFixed(2)} min/h (RTFx ${(60 / minutes).toFixed(0)})`;

/** The committed reports, oldest first. */
export function committedReports(): Report[] {
  return readdirSync(FOLDER)
    .filter((file) => /^\d{4}-\d\d-\d\d.*\.json$/.test(file))
    .map((file) => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Report)
    .toSorted((a, b) => a.at.localeCompare(b.at));
}

/** The pages and charts made from the reports: path from the root, and text. */
export function resultFiles(reports: readonly Report[]): Map<string, string> {
  const files = new Map([['docs/results.md', page(reports)]]);
  const compared = reports.findLast(({ peers }) => peers);
  if (compared) files.set('docs/images/rtfx-wer.svg', speedChart(compared.machine, compared.peers!));
  const joined = reports.flatMap(({ commit, accuracy }) =>
    accuracy?.joined ? [{ label: commit ?? '?', wordErrorRate: accuracy.joined }] : [],
  );
  if (joined.length) files.set('docs/images/history.svg', historyChart(joined));
  return files;
}

function page(reports: readonly Report[]): string {
  const parts = [
    '# Results',
    'Every table here is made from a report in `bench/results`, which `scripts/longhand bench --save` writes, by `node --import tsx bench/results.ts`.',
    'The test set shares no speaker and no sentence with the recordings used for tuning. Errors carry their number of words, in which a sentence',
    'counts as often as it was transcribed (in joined speech, at several offsets, in several orders), and a 95 % interval (bootstrap over',
    'sentences). Times depend on the machine: compare them within one report only.',
  ];
  const text = [`${parts[0]}\n\n${parts.slice(1).join('\n')}`];
  if (reports.some(({ accuracy }) => accuracy?.joined)) text.push('![Word error rate by version](images/history.svg)');
  for (const report of reports.toReversed()) text.push(section(report));
  return `${text.join('\n\n')}\n`;
}

function section(report: Report): string {
  const { at, machine, commit, versions, model, threads, device, accurate, set, seed } = report;
  const lines = [
    `## ${at.slice(0, 10)}, ${commit ?? 'no commit'}`,
    '',
    `Longhand ${versions.longhand}, Node ${versions.node}, onnxruntime ${versions.onnxruntime}; ${model}${accurate ? ', beam search,' : ''} on ${device}, ${threads} threads; ${machine}${set ? `; ${set} set, seed ${seed}` : ''}.`,
  ];
  if (report.note) lines.push('', report.note);
  const rows = [...speedRows(report), ...accuracyRows(report)];
  if (rows.length) lines.push('', '| measurement | result |', '| --- | --- |', ...rows.map((cells) => `| ${cells.join(' | ')} |`));
  if (report.coverage) {
    lines.push('', '| language | speech under words | longest gap, s | processing, min/h |', '| --- | --- | --- | --- |');
    for (const { language, covered, longestGap, minutesPerHour } of report.coverage)
      lines.push(`| ${language} | ${percent(covered)} | ${longestGap.toFixed(1)} | ${minutesPerHour.toFixed(2)} |`);
  }
  for (const rows of [report.peers, report.models]) {
    if (!rows) continue;
    lines.push(
      '',
      '| program | version | min/h (range) | relative time | WER | WER minus the first | longest omission, words | memory, MB |',
    );
    lines.push('| --- | --- | --- | --- | --- | --- | --- | --- |');
    for (const { name, version, minutesPerHour, range, wordErrorRate, difference, gap, peakMegabytes, ratio } of rows)
      lines.push(
        `| ${name} | ${version ?? versions.longhand} | ${minutesPerHour.toFixed(2)} (${range.map((x) => x.toFixed(2)).join('-')}) | ${ratio.toFixed(2)} | ${rate(wordErrorRate)} | ${difference ? differenceText(difference) : ''} | ${gap} | ${peakMegabytes.toFixed(0)} |`,
      );
  }
  return lines.join('\n');
}

function* speedRows({ speed }: Report): Generator<[string, string]> {
  if (!speed) return;
  yield [`recognition, ${speed.audioMinutes.toFixed(0)} minutes of two-person speech`, time(speed.minutesPerHour.recognition)];
  yield ['diarization', time(speed.minutesPerHour.diarization)];
  yield ['both', time(speed.minutesPerHour.total)];
  yield ['a 5-second note, cold / warm', `${speed.note.cold.toFixed(2)} s / ${speed.note.warm.toFixed(2)} s`];
  yield ['peak memory', `${speed.peakMegabytes.toFixed(0)} MB`];
}

function* accuracyRows({ accuracy = {} }: Report): Generator<[string, string]> {
  const { clips, joined, foreign, changes = [], conversations, rooms, noisyRooms, realTurns = [], invented, quiet, wordTimes } = accuracy;
  if (clips) yield ['WER, English clips one by one', rate(clips)];
  if (joined) yield ['WER, joined English speech', `${rate(joined)}; ${joined.errors.deleted} deleted, at most ${joined.gap} in a row`];
  if (foreign) yield ['error rate, other languages', rate(foreign)];
  for (const change of changes)
    yield [
      `error rate, language changes every ${change.seconds} s`,
      `${rate(change)}; ${change.lost} of ${change.stretches} stretches lost, at most ${change.gap} words in a row`,
    ];
  if (wordTimes)
    yield ['word boundary error, p50 / p90', `${(1000 * wordTimes.p50).toFixed(0)} ms / ${(1000 * wordTimes.p90).toFixed(0)} ms`];
  if (conversations) {
    yield [
      `DER, ${conversations.files} simulated conversations`,
      `${percent(conversations.error)}; speakers right in ${conversations.rightCount}`,
    ];
    yield ['speaker attribution accuracy', percent(conversations.wordsAttributed)];
  }
  for (const [kind, rates] of Object.entries({ '': rooms, ', some voices noisy': noisyRooms }))
    if (rates)
      yield [
        `DER, ${rates.files} simulated rooms${kind}`,
        `${percent(rates.error)}; speakers right in ${rates.rightCount}; ${rates.kept} of ${rates.interjections} interjections have a turn`,
      ];
  for (const { file, error, speakers, trueSpeakers } of realTurns)
    yield [`DER, ${file}`, `${percent(error)}; ${speakers} of ${trueSpeakers} speakers`];
  if (quiet) yield ['WER at -26 / -60 dBFS', `${percent(quiet.loud.rate)} / ${percent(quiet.quiet.rate)}`];
  if (invented) yield ['hallucinated words in noise, music and signals', String(Object.values(invented).reduce((sum, n) => sum + n, 0))];
}

function rate({ rate, errors, interval: [low, high] }: Rate): string {
  return `${percent(rate)} of ${errors.reference} words (${(100 * low).toFixed(1)}-${percent(high)})`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [file, text] of resultFiles(committedReports())) {
    writeFileSync(new URL(file, ROOT), text);
    process.stdout.write(`${file}\n`);
  }
}
