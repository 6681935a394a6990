/**
 * Speed of the extractive writer: `node --import tsx bench/reports/writing.ts`. Prints the slowest templates for conversations of 1 h and 10 h
 * in each language.
 */
import { CATALOGUE } from '../../api/contract/catalogue.ts';
import { openWriter, type ReportTranscript } from '../../engine/reports/writer.ts';
import { seeded } from '../random.ts';
import { SECONDS_PER_WORD, TALKS, talk } from './talks.ts';

const RARE = 3000; // additional words of a real conversation compared with the short one
const LIMITS = { 1: 1000, 10: 2000 } as const; // milliseconds

const never = new AbortController().signal;
const writer = openWriter({});

for (const name of TALKS) {
  for (const hours of [1, 10] as const) {
    const long = longTalk(talk(name), hours);
    const times: [name: string, milliseconds: number][] = [['(title, summary, topics)', await timed(() => writer.describe(long, never))]];
    for (const { slug, name } of CATALOGUE) times.push([slug, await timed(() => writer.write({ slug, name, prompt: null }, long, never))]);
    times.sort((a, b) => b[1] - a[1]);
    const verdict = times[0]![1] < LIMITS[hours] ? 'within' : 'OVER';
    const shown = times.slice(0, 3).map(([name, milliseconds]) => `${name} ${milliseconds.toFixed(0)} ms`);
    console.log(`${name} ${hours} h: ${verdict} ${LIMITS[hours]} ms; slowest: ${shown.join(', ')}`);
  }
}

/** Milliseconds of CPU time, which other processes do not affect. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

/** A conversation of this length: sentences of the short one, mixed with new ones made of its words and of rare ones. */
function longTalk(short: ReportTranscript, hours: number): ReportTranscript {
  const random = seeded(7);
  const turns = short.segments.map(({ text }) => text);
  const words = turns.flatMap((turn) => turn.replace(/[.,?!:;¿¡]/g, '').split(' '));
  const vocabulary = [...words, ...Array.from({ length: RARE }, () => random.pick(words) + random.pick(words).slice(-3))];
  const sentence = () =>
    random.next() < 0.3
      ? random.pick(turns)
      : `${Array.from({ length: 6 + Math.floor(random.next() * 14) }, () => random.pick(vocabulary)).join(' ')}${random.next() < 0.15 ? '?' : '.'}`;
  const segments: ReportTranscript['segments'] = [];
  let now = 0;
  while (now < hours * 3600) {
    const text = [sentence(), sentence(), sentence()].join(' ');
    const end = now + text.split(' ').length * SECONDS_PER_WORD;
    segments.push({ id: segments.length + 1, start: now, end, speaker: `Speaker ${1 + Math.floor(random.next() * 3)}`, text });
    now = end;
  }
  return { language: short.language, durationSeconds: now, segments };
}
