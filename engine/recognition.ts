import PQueue from 'p-queue';
import { decideLanguage, languageOf } from './asr/language.ts';
import { timeline } from './asr/timeline.ts';
import { readWindow } from './asr/windows.ts';
import { recogniseRouted } from './routing.ts';
import type { Job, Pool } from './runtime/pool.ts';
import type { Checkpoints, HeardStretch, Options, Recording, Span, Window, Word } from './types.ts';

export interface RecogniseOptions extends Pick<Options, 'language' | 'vocabulary' | 'accurate'> {
  signal: AbortSignal;
  /** Fraction of the windows that are done, 0 to 1. */
  onProgress: (fraction: number) => void;
  /** How many windows are in progress at once. */
  pool: Pick<Pool, 'concurrency' | 'routes'>;
  checkpoints?: Checkpoints;
}

const ENOUGH = 4; // windows that determine the language
const LIKELY_LANGUAGE = 0.5; // probability
const CHANNEL_SECONDS = 10; // of speech that determine the language of a channel; a guess
const MAX_LOST_SECONDS = 2; // of speech that a better text may leave without words

/** The words recognised in a recording. */
export interface Recognised {
  /** In recording time, ordered. */
  words: Word[];
  /** The requested language, or the most probable one over all windows; null if there are no windows and none was requested. */
  language: string | null;
  /** Seconds of detected speech that no word covers. */
  uncoveredSeconds: number;
  /** Spans that each model recognised, in order; empty if one model recognises everything. */
  stretches: HeardStretch[];
}

/**
 * Recognises all windows. Finished windows are kept as checkpoints and not recognised again.
 *
 * There is no separate pass for language detection: the first windows are decoded in their own most probable language, later ones in the
 * one that those agree on. Windows decoded in another language than their channel's, without clear evidence, are decoded once more at the
 * end and keep the more probable text.
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
    const own = languagesByChannel(windows, results);
    const expectedIn = (i: number) => own.get(windows[i]!.channel) ?? language;
    const astray = [...windows.keys()].filter((i) => strays(results[i]!, windows[i]!, expectedIn(i)));
    await severalAtOnce(astray, options, (i) => one(i, expectedIn(i), null));
  }
  const uncoveredSeconds = results.reduce((sum, { uncovered = 0 }) => sum + uncovered, 0);
  const stretches = results.flatMap(({ stretches = [] }) => stretches);
  return { words: results.flatMap(({ words }) => words), language, uncoveredSeconds, stretches };
}

/** A recognised window, as stored in a checkpoint. */
interface Finished {
  /** Null: the model knows several and does not say which it heard. */
  language: string | null;
  /** The most probable languages with their probabilities. */
  languages: [code: string, probability: number][];
  words: Word[];
  /** Mean log-probability of the text; absent in checkpoints of earlier versions. */
  meanLogProb?: number;
  /** Seconds of speech that no word covers. */
  uncovered?: number;
  /** The language changes within the window: each part was decoded in its own. */
  mixed?: boolean;
  /** Spans that each model recognised, in recording time; absent if one model recognises everything. */
  stretches?: HeardStretch[];
}

/** Checkpoint key: the window's position in the recording, because another version or model may place windows differently. */
function key({ pieces, channel }: Window): string {
  const [start, end] = [pieces[0]!.start, pieces.at(-1)!.end].map((seconds) => Math.round(seconds * 1000));
  return `recognised-${channel}-${start}-${end}`;
}

/** Processes windows with limited concurrency. After a failure none begins. */
async function severalAtOnce(numbers: number[], { pool, signal }: RecogniseOptions, work: (i: number) => Promise<void>): Promise<void> {
  const queue = new PQueue({ concurrency: pool.concurrency });
  await queue.addAll(
    numbers.map((i) => async () => {
      try {
        signal.throwIfAborted();
        await work(i);
      } catch (error) {
        queue.clear();
        throw error;
      }
    }),
  );
}

async function recogniseOne(
  window: Window,
  expected: string | null,
  recording: Recording,
  job: Job,
  { language, vocabulary, accurate, pool }: RecogniseOptions,
): Promise<Finished> {
  const { speech, peak, certainty } = window;
  const read = (room: Float32Array) => readWindow(recording, window, room);
  const request = { read, speech, peak, certainty, language, expected, vocabulary, accurate };
  const routed = pool.routes && (await recogniseRouted(job, request, pool.routes));
  const heard = routed ?? (await job.recognise(request));
  const times = timeline(window.pieces);
  const channel = window.channel === 'mix' ? undefined : window.channel;
  const side = channel === undefined ? {} : { channel };
  const words = heard.words.map((word) => ({ ...word, ...times.originalSpan(word), ...side }));
  const [at, until] = [({ start }: Span) => times.original(start), ({ end }: Span) => times.original(end)];
  const stretches = routed?.stretches.map((stretch) => ({ ...stretch, start: at(stretch), end: until(stretch), ...side }));
  const { language: spoken, languages, meanLogProb, uncovered, mixed } = heard;
  return { language: spoken, languages, words, meanLogProb, uncovered, ...(mixed && { mixed }), ...(stretches && { stretches }) };
}

/**
 * Whether the second decoding, in another language, has text where the first has none, or covers the speech as well and is more probable.
 * Probabilities of different models cannot be compared: then the model of the recording's language is right, unless it is unsure, or the
 * window is likely in the language of the other model and that one is sure.
 */
function isBetter(found: Finished, before: Finished): boolean {
  if (!hasText(found) || !hasText(before)) return hasText(found);
  if ((found.uncovered ?? 0) > (before.uncovered ?? 0) + MAX_LOST_SECONDS) return false; // a row of symbols is probable, whatever was said
  const models = ({ stretches = [] }: Finished) => stretches.map(({ model }) => model).join();
  const isSure = ({ stretches = [] }: Finished) => !stretches.some(({ fallback }) => fallback);
  if (models(found) !== models(before)) return isSure(found) && !(isSure(before) && isLikely(before));
  return (found.meanLogProb ?? 0) > (before.meanLogProb ?? Number.NEGATIVE_INFINITY);
}

/** Whether a window is in the language it was decoded in rather than in any other. */
function isLikely({ language, languages }: Finished): boolean {
  return languages.some(([code, probability]) => code === language && probability >= LIKELY_LANGUAGE);
}

function hasText({ words }: Finished): boolean {
  return words.some(({ text }) => /[\p{L}\p{N}]/u.test(text));
}

/**
 * The transcript's language when one was requested: always English for an English-only Whisper, whose windows report no languages; of other
 * models what they recognise, if that is one language.
 */
function spokenBy(results: readonly Finished[], asked: string): string {
  const [first] = results;
  if (!first || first.language === null) return asked;
  if (results.every(({ languages }) => !languages.length)) return 'en';
  return first.languages.length === 1 ? first.language : asked; // Whisper reports several
}

/**
 * The language on which finished windows agree, weighted by seconds of speech; windows without text do not count. A window whose language
 * is in doubt was already tried in several.
 */
function spokenIn(windows: readonly Window[], results: readonly Finished[]): string | null {
  if (windows.length === 1) return results[0]!.language;
  const heard = results.flatMap(({ languages, words }, i) => ({
    languages: new Map(languages),
    seconds: spoken(windows[i]!.speech),
    words,
  }));
  if (results.every(({ language }) => language === null)) return null;
  const telling = heard.filter(({ words }) => words.length);
  return heard.length ? decideLanguage(telling.length ? telling : heard).language : null;
}

/** The languages of the channels that have enough speech in one: the parties of a call may each speak their own. */
function languagesByChannel(windows: readonly Window[], results: readonly Finished[]): Map<Window['channel'], string> {
  const found = new Map<Window['channel'], string>();
  for (const channel of new Set(windows.map((window) => window.channel))) {
    const telling = windows.flatMap((window, i) => {
      const { languages, words } = results[i]!;
      const seconds = spoken(window.speech);
      return window.channel === channel && words.length && languages.length ? [{ languages: new Map(languages), seconds }] : [];
    });
    if (telling.reduce((sum, { seconds }) => sum + seconds, 0) < CHANNEL_SECONDS) continue;
    const { language, probability } = decideLanguage(telling);
    if (probability >= LIKELY_LANGUAGE) found.set(channel, language);
  }
  return found;
}

/** Whether a window was decoded in another language than it would have been with the recording's language known. */
function strays({ language, languages, mixed }: Finished, { speech }: Window, expected: string): boolean {
  return !mixed && languageOf(new Map(languages), expected, speech) !== language;
}

function spoken(spans: readonly Span[]): number {
  return spans.reduce((sum, { start, end }) => sum + end - start, 0);
}
