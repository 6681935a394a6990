import { coverageRows, type LanguageCoverage } from './accuracy/coverage.ts';
import type { Accuracy, Rate } from './accuracy/measures.ts';
import type { PeerRow } from './peers/comparison.ts';
import type { Provenance } from './provenance.ts';
import type { Sizing } from './sizing.ts';
import type { Profile } from './speed/profile.ts';
import type { Speed } from './speed/speed.ts';

/** The results of one run; keys that other tools read are documented in the command reference. */
export interface Report extends Provenance {
  model: string;
  device: string;
  threads: number;
  /** By beam search; absent: greedily. The rows of `peers` say it themselves. */
  accurate?: true;
  at: string;
  minutes_per_hour?: { recognition: number; diarization: number; total: number };
  rtfx?: number;
  peak_rss_mb?: number;
  wer?: number;
  der?: number;
  speed?: Speed;
  profile?: Profile;
  /** Recordings used for the accuracy, and the seed of everything simulated from them. */
  set?: string;
  seed?: number;
  accuracy?: Accuracy;
  coverage?: LanguageCoverage[];
  peers?: PeerRow[];
  /** Installed models; relative times refer to the first. */
  models?: PeerRow[];
  sizing?: Sizing & { load: string };
  /** Added by hand: what a reader must know about these figures. */
  note?: string;
}

const percent = (x: number) => `${(100 * x).toFixed(1)} %`;
const OPERATORS = 10; // number shown of a profile
const sum = (parts: Profile['parts']) => parts.reduce((total, { seconds }) => total + seconds, 0);
const two = (x: number) => x.toFixed(2);
const latency = (what: string, { count, p50, p95 }: Speed['parallel'][number]['call']) =>
  `${count} ${what} p50 ${two(p50)} s, p95 ${two(p95)} s`;
const decoding = ({ accurate }: Report) => (accurate ? 'beam search' : 'greedy');

/** Human-readable tables. */
export function table(report: Report): string {
  const lines = [
    `${report.machine}, ${report.threads} threads, ${report.device}, ${report.model}${report.accurate ? ', beam search' : ''}`,
    '',
  ];
  const { speed, accuracy, peers, sizing } = report;
  const row = (name: string, value: string) => lines.push(`  ${name.padEnd(48)} ${value}`);
  if (speed) {
    lines.push(`Speed, ${speed.audioMinutes.toFixed(0)} minutes of two-person speech (minutes of processing per hour of audio)`);
    row('recognition', two(speed.minutesPerHour.recognition));
    row('diarization', two(speed.minutesPerHour.diarization));
    row('both, one file and nothing beside it', two(speed.minutesPerHour.total));
    row('RTFx (hours of audio per hour)', speed.rtfx.toFixed(0));
    row('hours of audio per day', speed.audioHoursPerDay.toFixed(0));
    row('a 5-second note, cold / warm', `${two(speed.note.cold)} s / ${two(speed.note.warm)} s`);
    lines.push('Under load (minutes per hour of all audio: the long files, and the calls and notes submitted while they run)');
    for (const p of speed.parallel)
      row(
        `${p.files} long ${p.files === 1 ? 'file' : 'files'} at once`,
        `${two(p.minutesPerHour)}; meanwhile ${latency('one-minute calls', p.call)}, ${latency('5-second notes', p.note)}`,
      );
    row('peak memory of all of this', `${speed.peakMegabytes.toFixed(0)} MB`);
    lines.push('');
  }
  if (report.profile) {
    const { seconds, parts } = report.profile;
    const share = (part: number) => `${two(part)} s (${percent(part / seconds)})`;
    lines.push(`Where recognition spends the ${two(seconds)} s of one thread per hour of speech`);
    for (const part of parts.slice(0, OPERATORS)) row(`${part.network}: ${part.operator}`, share(part.seconds));
    for (const network of ['encoder', 'decoder', 'segmentation'])
      row(`${network}, in all`, share(sum(parts.filter((part) => part.network === network))));
    row('JavaScript, copying, counting', share(seconds - sum(parts)));
    lines.push('');
  }
  if (accuracy) {
    lines.push(`Accuracy${report.set ? `, ${report.set} set` : ''}`);
    for (const [name, value] of accuracyRows(accuracy)) row(name, value);
    lines.push('');
  }
  if (report.coverage) {
    lines.push('Coverage, a minute of synthetic speech in each language');
    for (const [name, value] of coverageRows(report.coverage)) row(name, value);
    lines.push('');
  }
  const programs = (heading: string, rows: readonly PeerRow[]) => {
    lines.push(heading);
    for (const { name, version, minutesPerHour, wordErrorRate, difference, gap, peakMegabytes, ratio } of rows) {
      row(
        version ? `${name} (${version})` : name,
        `${two(minutesPerHour)} min/h, relative time ${two(ratio)}, ${peakMegabytes.toFixed(0)} MB`,
      );
      row('', `WER ${rateText(wordErrorRate)}; ${wordErrorRate.errors.deleted} deleted, at most ${gap} in a row`);
      if (difference) row('', `WER minus that of ${rows[0]!.name}: ${differenceText(difference)}`);
    }
    lines.push('');
  };
  if (peers?.length) programs('The same joined speech in several orders, same weights, same threads, in sequence', peers);
  if (report.models?.length) programs('Installed models on the same joined English speech in several orders, in sequence', report.models);
  if (sizing) {
    lines.push(`For ${sizing.load}: ${sizing.hosts} host(s) like this one, ${sizing.cores} cores, ${sizing.gib} GiB in all`);
    row('from arrival to completion in the busy hour', `p50 ${sizing.wait.p50.toFixed(0)} s, p95 ${sizing.wait.p95.toFixed(0)} s`);
    row('utilisation in that hour', percent(sizing.busy));
  } else if (speed) {
    lines.push(
      `Recommendation: one engine with LONGHAND_THREADS=${report.threads} on this machine; --load 200h/day computes how many machines a load needs.`,
    );
  }
  return lines.join('\n');
}

/** An error rate with its number of words and its 95 % interval. */
function rateText({ rate, errors, interval: [low, high] }: Rate): string {
  return `${percent(rate)} of ${errors.reference} words (95 % interval ${(100 * low).toFixed(1)} to ${percent(high)})`;
}

/** In percentage points. */
export function differenceText({ rate, interval }: NonNullable<PeerRow['difference']>): string {
  const [value, low, high] = [rate, ...interval].map((share) => `${share < 0 ? '-' : '+'}${Math.abs(100 * share).toFixed(1)}`);
  return `${value} (95 % interval ${low} to ${high})`;
}

/** A line per measurement. */
function* accuracyRows(accuracy: Accuracy): Generator<[name: string, value: string]> {
  const { clips, joined, languages, foreign, conversations, calls, realTurns, invented, quiet, wordTimes } = accuracy;
  if (clips) yield ['WER, English clips', rateText(clips)];
  if (joined) {
    yield [
      'WER, joined speech',
      `${rateText(joined)}; ${joined.errors.deleted} deleted, at most ${joined.gap} in a row; ${two(joined.minutesPerHour)} min/h`,
    ];
  }
  if (wordTimes) {
    const { p50, p90, compared, disordered } = wordTimes;
    const seconds = `${p50.toFixed(3)} s / ${p90.toFixed(3)} s`;
    yield ['word boundary error, p50 / p90', `${seconds} (${compared} compared; ${disordered} words out of order)`];
  }
  for (const l of languages ?? []) yield [`error rate, ${l.language}`, `${percent(l.rate)}; language right ${l.detected}`];
  if (foreign) yield ['error rate, all other languages', rateText(foreign)];
  for (const change of accuracy.changes ?? [])
    yield [
      `error rate, the language changes after ${change.seconds} s`,
      `${rateText(change)}; ${change.lost} of ${change.stretches} stretches lost, at most ${change.gap} words in a row`,
    ];
  if (conversations) {
    const { files, error, miss, falseAlarm, confusion, rightCount, wordsAttributed, wordErrorRate } = conversations;
    const parts = `miss ${percent(miss)}, false ${percent(falseAlarm)}, confusion ${percent(confusion)}`;
    yield [`DER, ${files} conversations`, `${percent(error)} (${parts})`];
    yield ['right number of speakers', `${rightCount} of ${files}`];
    yield ['speaker attribution accuracy', `${percent(wordsAttributed)} of those recognised; ${percent(wordErrorRate)} wrong`];
  }
  for (const [kind, rates] of Object.entries({
    'generated rooms': accuracy.rooms,
    'generated rooms, some voices noisy': accuracy.noisyRooms,
  })) {
    if (!rates) continue;
    const { files, error, miss, falseAlarm, confusion, rightCount, interjections, kept, minutesPerHour } = rates;
    const parts = `miss ${percent(miss)}, false alarm ${percent(falseAlarm)}, confusion ${percent(confusion)}`;
    yield [`DER, ${files} ${kind}`, `${percent(error)} (${parts}); ${two(minutesPerHour)} min/h`];
    yield ['right number of speakers', `${rightCount} of ${files}`];
    yield ['interjections of 0.25 to 0.9 s with a turn', `${kept} of ${interjections}`];
  }
  for (const { line, wrong, twice, parties } of calls ?? [])
    yield [`a call, ${line}`, `WER ${percent(wrong)} over both parties; ${twice} words twice; ${parties} parties`];
  for (const { what, files, right, off, given } of accuracy.people ?? [])
    yield [
      `people of both sets, ${what}`,
      `right in ${right} of ${files}, ${off} too many or too few; ${given} of ${files} with their number given`,
    ];
  for (const [where, { count, turns, heard, right }] of Object.entries(accuracy.interjections ?? {}))
    yield [
      where === 'over' ? "short words over another's speech" : 'short words in pauses of another',
      `${turns} of ${count} have a turn; ${heard} written, ${right} of them with the right speaker`,
    ];
  for (const r of realTurns ?? []) yield [`DER, ${r.file}`, `${percent(r.error)}; ${r.speakers} of ${r.trueSpeakers} speakers`];
  if (invented)
    yield [
      'hallucinated words',
      Object.entries(invented)
        .map(([name, n]) => `${name} ${n}`)
        .join(', '),
    ];
  if (quiet) {
    const { loud, quiet: soft } = quiet;
    const deleted = `${loud.errors.deleted} / ${soft.errors.deleted} deleted of ${soft.errors.reference}`;
    yield ['WER at -26 / -60 dBFS', `${percent(loud.rate)} / ${percent(soft.rate)} (${deleted})`];
  }
}

/**
 * Changes relative to a saved run, in percent; positive is worse (slower, more errors, more memory). Names the settings that differ, because
 * figures of another model or other recordings say nothing about a change.
 */
export function compare(now: Report, before: Report): string {
  const figures: [string, number | undefined, number | undefined][] = [
    ['recognition, min/h', now.minutes_per_hour?.recognition, before.minutes_per_hour?.recognition],
    ['diarization, min/h', now.minutes_per_hour?.diarization, before.minutes_per_hour?.diarization],
    ['everything, min/h', now.minutes_per_hour?.total, before.minutes_per_hour?.total],
    ['peak memory, MB', now.peak_rss_mb, before.peak_rss_mb],
    ['word error rate', now.wer, before.wer],
    ['diarization error rate', now.der, before.der],
    ['word error rate, clips', now.accuracy?.clips?.rate, before.accuracy?.clips?.rate],
    ['error rate, languages', now.accuracy?.foreign?.rate, before.accuracy?.foreign?.rate],
    ...(now.accuracy?.languages ?? []).map((l): [string, number, number | undefined] => [
      `error rate, ${l.language}`,
      l.rate,
      before.accuracy?.languages?.find(({ language }) => language === l.language)?.rate,
    ]),
  ];
  const change = (a: number, b: number) =>
    b === 0 ? (a === 0 ? 'both 0' : 'from 0') : `${a >= b ? '+' : ''}${(100 * (a / b - 1)).toFixed(1)} %`;
  const lines = figures.flatMap(([name, a, b]) =>
    a === undefined || b === undefined ? [] : [`  ${name.padEnd(26)} ${b.toFixed(3)} -> ${a.toFixed(3)}  (${change(a, b)})`],
  );
  const settings: [string, unknown, unknown][] = [
    ...(['model', 'device', 'threads'] as const).map((name): [string, unknown, unknown] => [name, now[name], before[name]]),
    ['decoding', decoding(now), decoding(before)],
    ...(now.accuracy && before.accuracy
      ? (['set', 'seed'] as const).map((name): [string, unknown, unknown] => [name, now[name], before[name]])
      : []),
  ];
  const differing = settings.filter(([, a, b]) => a !== b).map(([name, a, b]) => `  another ${name}: ${b} -> ${a}`);
  return [`Against ${before.at} on ${before.machine}`, ...differing, ...lines].join('\n');
}

/** Bar chart of minutes per hour, ours first, as SVG. */
export function chart(report: Report): string {
  const bars = [
    ...(report.minutes_per_hour ? [{ name: 'Longhand, everything', value: report.minutes_per_hour.total }] : []),
    ...(report.peers ?? []).map((p) => ({ name: p.name, value: p.minutesPerHour })),
  ];
  const longest = Math.max(...bars.map((b) => b.value), 0.001);
  const rows = bars.map(({ name, value }, i) => {
    const y = 40 + i * 34;
    const width = (value / longest) * 420;
    const label = name.replace(/[<&]/g, (c) => (c === '<' ? '&lt;' : '&amp;'));
    return `<text x="250" y="${y + 16}" text-anchor="end">${label}</text><rect x="260" y="${y}" width="${width.toFixed(1)}" height="22" fill="${i ? '#9aa5b1' : '#2463eb'}"/><text x="${(266 + width).toFixed(1)}" y="${y + 16}">${two(value)}</text>`;
  });
  const height = 60 + bars.length * 34;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="760" height="${height}" font-family="system-ui, sans-serif" font-size="13"><rect width="760" height="${height}" fill="white"/><text x="16" y="24" font-weight="bold">Minutes of processing per hour of audio (${report.machine.replace(/[<&]/g, ' ')}, ${report.threads} threads)</text>${rows.join('')}</svg>\n`;
}
