import { join } from 'node:path';
import { storedLanguage } from '../../api/contract/languages.ts';
import type { Pool } from '../../engine/runtime/pool.ts';
import { countErrors, errorsOfRuns, longestGap, quantile, wordTimes } from '../errors/align.ts';
import { interval } from '../errors/bootstrap.ts';
import { addErrors, type Errors, englishWords, errorRate, NO_ERRORS, unitsOf } from '../errors/normalise.ts';
import { type Clip, englishClips, foreignClips, type Split, someOf } from '../recordings/clips.ts';
import { joined } from '../recordings/conversations.ts';
import { delayed, level, samplesOf, scaled, writeWav } from '../recordings/sound.ts';
import { minutesPerHour, textOf, timed, transcript } from '../speed/measure.ts';
import type { Accuracy, AccuracyOptions, Rate } from './measures.ts';

const LOUD = -26; // dBFS
const QUIET = -60; // dBFS

/** The rate over several recordings. Errors of one recording transcribed several times must be summed. */
export function rated(parts: readonly Errors[]): Rate {
  const errors = parts.reduce(addErrors, NO_ERRORS);
  return { rate: errorRate(errors), errors, interval: interval(parts) };
}

/** The English clips. Throws `MissingClips` without any. */
export function spokenEnglish(data?: string, split?: Split): readonly Clip[] {
  return someOf(englishClips(data, split), 'English clips of 1 to 30 s', data, split);
}

/** Word error rate of clips, one by one. */
export async function rateOf(pool: Pool, list: readonly Clip[], accurate = false): Promise<Rate> {
  const parts: Errors[] = [];
  for (const clip of list) {
    const found = await transcript(clip.path, pool, { diarize: false, accurate });
    parts.push(countErrors(englishWords(clip.transcript), englishWords(textOf(found))));
  }
  return rated(parts);
}

/** WER and word timestamps of clips joined into one recording; a clip that occurs several times counts as one recording. */
export async function joinedRate(
  pool: Pool,
  folder: string,
  { minutes, accurate, ...options }: AccuracyOptions,
): Promise<Pick<Accuracy, 'joined' | 'wordTimes'>> {
  const made = await joined(minutes * 60, options);
  const path = join(folder, 'joined.wav');
  await writeWav(path, made.samples);
  const { result, seconds } = await timed(() => transcript(path, pool, { language: 'en', diarize: false, accurate }));
  const runs = made.said.map((run) => englishWords(run.transcript));
  const heard = englishWords(textOf(result));
  const times = wordTimes(made, result.segments, result.durationSeconds);
  const { unheard, disordered } = times;
  return {
    joined: {
      ...rated(byRecording(made.said, errorsOfRuns(runs, heard))),
      gap: longestGap(runs.flat(), heard),
      minutesPerHour: minutesPerHour(seconds, result.durationSeconds),
    },
    wordTimes: { p50: quantile(times.errors, 0.5), p90: quantile(times.errors, 0.9), compared: times.errors.length, unheard, disordered },
  };
}

/** Sums the errors of all runs of a sentence. */
export function byRecording(said: readonly { transcript: string }[], errors: readonly Errors[]): Errors[] {
  const sums = new Map<string, Errors>();
  for (const [i, { transcript }] of said.entries()) sums.set(transcript, addErrors(sums.get(transcript) ?? NO_ERRORS, errors[i]!));
  return [...sums.values()];
}

/**
 * Seconds of silence before a clip: its alignment with the frames changes the error rate of 30 clips by more than one
 * percentage point.
 */
const LATER = [0, 0.03, 0.07, 0.11];

/** Error rates of clips in other languages, each at several offsets. */
export async function languageRates(
  pool: Pool,
  folder: string,
  { accurate, data, split }: AccuracyOptions,
): Promise<Pick<Accuracy, 'languages' | 'foreign'>> {
  const all = new Map<string, { errors: Errors; right: number; count: number }>();
  const parts: Errors[] = [];
  for (const clip of someOf(foreignClips(data, split), 'clips in other languages (category 2)', data, split)) {
    let own = NO_ERRORS;
    const samples = await samplesOf(clip.path);
    const entry = all.get(clip.language) ?? { errors: NO_ERRORS, right: 0, count: 0 };
    for (const seconds of LATER) {
      const path = join(folder, 'later.wav');
      await writeWav(path, delayed(samples, seconds));
      const found = await transcript(path, pool, { diarize: false, accurate });
      own = addErrors(own, countErrors(unitsOf(clip.transcript, clip.language), unitsOf(textOf(found), clip.language)));
      entry.count++;
      if (storedLanguage(found.language ?? '') === storedLanguage(clip.language)) entry.right++;
    }
    entry.errors = addErrors(entry.errors, own);
    parts.push(own);
    all.set(clip.language, entry);
  }
  return {
    languages: [...all].map(([language, e]) => ({ language, rate: errorRate(e.errors), detected: `${e.right}/${e.count}` })),
    foreign: rated(parts),
  };
}

/** WER of the same clips at two levels, to show the effect of quiet speech. */
export async function quietRates(pool: Pool, folder: string, { accurate, data, split }: AccuracyOptions): Promise<Pick<Accuracy, 'quiet'>> {
  const at = async (decibels: number): Promise<Rate> => {
    const levelled: Clip[] = [];
    for (const [i, clip] of spokenEnglish(data, split).entries()) {
      const samples = await samplesOf(clip.path);
      const path = join(folder, `level-${i}.wav`);
      await writeWav(path, scaled(samples, 10 ** (decibels / 20) / (level(samples) || 1)));
      levelled.push({ ...clip, path });
    }
    return rateOf(pool, levelled, accurate);
  };
  return { quiet: { loud: await at(LOUD), quiet: await at(QUIET) } };
}
