import type { meanDiarization } from '../errors/der.ts';
import type { Errors } from '../errors/normalise.ts';
import type { Split } from '../recordings/clips.ts';
import type { Kept } from './interjections.ts';
import type { MeetingRates } from './meetings.ts';
import type { PeopleFound } from './people.ts';

/** Word error rate, number of words, and the 95 % interval by bootstrap over the recordings. */
export interface Rate {
  rate: number;
  errors: Errors;
  interval: [low: number, high: number];
}

/** Recordings in which the language changes, by the seconds of each stretch. */
export interface ChangeRate extends Rate {
  seconds: number;
  stretches: number;
  /** Stretches with a word error rate above 60 %: skipped, or written in another language. */
  lost: number;
  /** Longest run of deleted words. */
  gap: number;
}

/** The measurements; all of them, unless parts were selected. */
export type Accuracy = Partial<Measures>;

export interface Measures {
  /** English clips one by one, with language `auto`. */
  clips: Rate;
  /** `gap`: longest run of deleted words. */
  joined: Rate & { gap: number; minutesPerHour: number };
  languages: { language: string; rate: number; detected: string }[];
  /** All clips in other languages, each at several offsets; words, or characters in languages without word separators. */
  foreign: Rate;
  /** Recordings in which the language changes. */
  changes: ChangeRate[];
  conversations: ReturnType<typeof meanDiarization> & { wordsAttributed: number; wordErrorRate: number };
  /** Transcripts of the same two parties over several kinds of lines: words missing, wrong, duplicated or attributed to the other party. */
  calls: { line: string; wrong: number; twice: number; parties: number }[];
  /** Number of speakers found, for 1 to 20 speakers. */
  people: PeopleFound[];
  /** Recognised short interjections, overlapping another speaker and in pauses. */
  interjections: Record<'over' | 'pauses', Kept>;
  /** Diarization of simulated rooms. */
  rooms: MeetingRates;
  /** The same with the noise of a poor microphone in some voices. */
  noisyRooms: MeetingRates;
  realTurns: { file: string; error: number; speakers: number; trueSpeakers: number }[];
  /** Hallucinated words in audio without speech, by kind of sound. */
  invented: Record<string, number>;
  /** The same English clips at -26 and at -60 dBFS. */
  quiet: { loud: Rate; quiet: Rate };
  /** Error of word timestamps at the edges of joined clips, seconds. */
  wordTimes: { p50: number; p90: number; compared: number; unheard: number; disordered: number };
}

/** Selection of measurements and recordings. */
export interface AccuracyOptions {
  /** Minutes of joined speech. */
  minutes: number;
  conversations: number;
  accurate: boolean;
  /** Folder of clips; default: bench/data. */
  data?: string;
  /** Set of voices and sentences: thresholds are tuned on `tuning`, results are reported for `test`. */
  split: Split;
  /** Seed for everything random: orders, conversations, rooms, noises. */
  seed: number;
  log: (line: string) => void;
}
