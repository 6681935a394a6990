import PQueue from 'p-queue';
import { decideLanguage } from './asr/language.ts';
import { timeline } from './asr/timeline.ts';
import { languageOf } from './asr/whisper/decode-job.ts';
import { readWindow } from './asr/windows.ts';
import type { Job, Pool } from './runtime/pool.ts';
import type { Checkpoints, Options, Recording, Span, Window, Word } from './types.ts';

export interface RecogniseOptions extends Pick<Options, 'language' | 'vocabulary' | 'accurate'> {
  signal: AbortSignal;
  /** Share of the windows that are done, 0 to 1. */
  onProgress: (fraction: number) => void;
  /** How many windows are under way at once. */
  pool: Pick<Pool, 'concurrency'>;
  checkpoints?: Checkpoints;
}

const ENOUGH = 4; // windows that tell the language

/** What was said in a recording. */
export interface Recognised {
  /** In recording time and in order. */
  words: Word[];
  /** The one asked for, or the one most probable over all windows; null: there are no windows, and none was asked for. */
  language: string | null;
  /** Seconds of detected speech that no word covers. */
  uncoveredSeconds: number;
}

/**
 * The words of all windows. Finished windows are kept as checkpoints and not recognised again.
 *
 * Nothing is heard beforehand to find the language: the first windows are recognised in the one each is most probably in, and later ones know what those say
 * together. The few that were taken for another language without being clearly in it are recognised once more at the end, and keep the more probable text.
 */
export async function recogniseAll(
  windows: readonly Window[],
  recording: Recording,
  job: Job,
  options: RecogniseOptions,
): Promise<Recognised> {
  const saved = (await options.checkpoints?.load()) ?? new Map<string, Uint8Array>();
  const results: Finished[] = new Array(windows.length);
  const auto = options.language === 'auto';
  const one = async (i: number, language: string, expected: string | null) => {
    const found = await recogniseOne(windows[i]!, expected, recording, job, { ...options, language });
    if (results[i] && !isBetter(found, results[i]!)) return;
    results[i] = found;
    await options.checkpoints?.save(key(windows[i]!), Buffer.from(JSON.stringify(results[i])));
  };
  let expected: string | null = null;
  let done = 0;
  await severalAtOnce([...windows.keys()], options, async (i) => {
    const kept = saved.get(key(windows[i]!));
    if (kept) results[i] = JSON.parse(Buffer.from(kept).toString()) as Finished;
    else await one(i, options.language, expected);
    if (++done >= ENOUGH && auto) expected ??= spokenIn(windows, results);
    options.onProgress(done / windows.length);
  });
  const language = auto ? spokenIn(windows, results) : spokenBy(results, options.language);
  if (auto && language && windows.length > 1) {
    const astray = [...windows.keys()].filter((i) => strays(results[i]!, windows[i]!, language));
    await severalAtOnce(astray, options, (i) => one(i, language, null));
  }
  const uncoveredSeconds = results.reduce((sum, { uncovered = 0 }) => sum + uncovered, 0);
  return { words: results.flatMap(({ words }) => words), language, uncoveredSeconds };
}

/** A recognised window, as a checkpoint keeps it. */
interface Finished {
  language: string;
  /** The most probable ones, with their probabilities. */
  languages: [code: string, probability: number][];
  words: Word[];
  /** Mean log-probability of its text; checkpoints of earlier versions have none. */
  meanLogProb?: number;
  /** Seconds of speech that no word covers. */
  uncovered?: number;
}

/** By its place in the recording: another version, or another model, may cut windows elsewhere. */
function key({ pieces, channel }: Window): string {
  const [start, end] = [pieces[0]!.start, pieces.at(-1)!.end].map((seconds) => Math.round(seconds * 1000));
  return `recognised-${channel}-${start}-${end}`;
}

/** Works through windows, some at once. */
async function severalAtOnce(numbers: number[], { pool, signal }: RecogniseOptions, work: (i: number) => Promise<void>): Promise<void> {
  const queue = new PQueue({ concurrency: pool.concurrency });
  await queue.addAll(
    numbers.map((i) => () => {
      signal.throwIfAborted();
      return work(i);
    }),
  );
}

async function recogniseOne(
  window: Window,
  expected: string | null,
  recording: Recording,
  job: Job,
  { language, vocabulary, accurate }: RecogniseOptions,
): Promise<Finished> {
  const { speech, peak, certainty } = window;
  const read = (room: Float32Array) => readWindow(recording, window, room);
  const heard = await job.recognise({ read, speech, peak, certainty, language, expected, vocabulary, accurate });
  const times = timeline(window.pieces);
  const channel = window.channel === 'mix' ? undefined : window.channel;
  const words = heard.words.map((word) => ({ ...word, ...times.originalSpan(word), ...(channel === undefined ? {} : { channel }) }));
  const { languages, meanLogProb, uncovered } = heard;
  return { language: heard.language, languages, words, meanLogProb, uncovered };
}

/** Whether a window recognised in another language says more, or more probably, than before. */
function isBetter(found: Finished, before: Finished): boolean {
  if (!found.words.length || !before.words.length) return found.words.length > 0;
  return (found.meanLogProb ?? 0) > (before.meanLogProb ?? Number.NEGATIVE_INFINITY);
}

/** The language of the transcript when one was asked for: English all the same from a model that knows no other, whose windows tell of no languages. */
function spokenBy(results: readonly Finished[], asked: string): string {
  return results.length && results.every(({ languages }) => !languages.length) ? 'en' : asked;
}

/**
 * What the windows that are done say together about the language, by the seconds of speech in them; those in which nothing was said do not count.
 * A window alone was tried in several languages where it is in doubt.
 */
function spokenIn(windows: readonly Window[], results: readonly Finished[]): string | null {
  if (windows.length === 1) return results[0]!.language;
  const heard = results.flatMap(({ languages, words }, i) => ({
    languages: new Map(languages),
    seconds: spoken(windows[i]!.speech),
    words,
  }));
  const telling = heard.filter(({ words }) => words.length);
  return heard.length ? decideLanguage(telling.length ? telling : heard).language : null;
}

/** Whether a window was recognised in another language than it would have been, had the one of the recording been known. */
function strays({ language, languages }: Finished, { speech }: Window, expected: string): boolean {
  return languageOf({ languages: new Map(languages), noSpeech: 0 }, expected, speech) !== language;
}

function spoken(spans: readonly Span[]): number {
  return spans.reduce((sum, { start, end }) => sum + end - start, 0);
}
