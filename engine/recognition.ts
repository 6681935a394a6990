import type { Job } from './pool.ts';
import { timeline } from './speech/timeline.ts';
import { readWindow } from './speech/windows.ts';
import type { Checkpoints, Options, Recording, Span, Window, Word } from './types.ts';
import { decideLanguage } from './whisper/language.ts';

export interface RecogniseOptions extends Pick<Options, 'language' | 'vocabulary' | 'accurate'> {
  signal: AbortSignal;
  /** Share of the windows that are done, 0 to 1. */
  onProgress: (fraction: number) => void;
  /** Windows under way at once. */
  concurrency: number;
  checkpoints?: Checkpoints;
}

const ENOUGH = 4; // windows that tell the language

/**
 * The words of all windows, in recording time and in order, and the language: the one asked for, or the one most probable over several windows.
 * Finished windows are kept as checkpoints and not recognised again. Null language: there are no windows, and none was asked for.
 */
export async function recogniseAll(
  windows: readonly Window[],
  recording: Recording,
  job: Job,
  options: RecogniseOptions,
): Promise<{ words: Word[]; language: string | null }> {
  const finished = (await options.checkpoints?.load()) ?? new Map<string, Uint8Array>();
  const expected = options.language === 'auto' ? await languageOf(windows, recording, job, options) : null;
  const results: Finished[] = new Array(windows.length);
  let next = 0;
  let done = 0;
  const lane = async () => {
    for (let i = next++; i < windows.length; i = next++) {
      options.signal.throwIfAborted();
      const key = `window-${i}`;
      const saved = finished.get(key);
      results[i] = saved
        ? (JSON.parse(Buffer.from(saved).toString()) as Finished)
        : await recogniseOne(windows[i]!, expected, recording, job, options);
      if (!saved) await options.checkpoints?.save(key, Buffer.from(JSON.stringify(results[i])));
      options.onProgress(++done / windows.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.concurrency, windows.length) }, lane));
  return {
    words: results.flatMap(({ words }) => words),
    language: options.language === 'auto' ? (expected ?? results[0]?.language ?? null) : options.language,
  };
}

interface Finished {
  language: string;
  words: Word[];
}

async function recogniseOne(
  window: Window,
  expected: string | null,
  recording: Recording,
  job: Job,
  { language, vocabulary, accurate }: RecogniseOptions,
): Promise<Finished> {
  const samples = await readWindow(recording, window);
  const heard = await job.recognise({ samples, speech: window.speech, peak: window.peak, language, expected, vocabulary, accurate });
  const times = timeline(window.pieces);
  const channel = window.channel === 'mix' ? undefined : window.channel;
  const words = heard.words.map((word) => ({ ...word, ...times.originalSpan(word), ...(channel === undefined ? {} : { channel }) }));
  return { language: heard.language, words };
}

/** What several windows say together about the language; null for one window, since recognising it tells. */
async function languageOf(
  windows: readonly Window[],
  recording: Recording,
  job: Job,
  { language, vocabulary, accurate }: RecogniseOptions,
): Promise<string | null> {
  if (windows.length < 2) return null;
  const chosen = telling(windows);
  const heard = await Promise.all(
    chosen.map(async (window) => {
      const samples = await readWindow(recording, window);
      const { languages } = await job.listen({
        samples,
        speech: window.speech,
        peak: window.peak,
        language,
        expected: null,
        vocabulary,
        accurate,
      });
      return { languages, seconds: spoken(window.speech) };
    }),
  );
  return decideLanguage(heard).language;
}

/** Windows with much speech, from all parts of the recording. */
function telling(windows: readonly Window[]): Window[] {
  const parts = Math.min(ENOUGH, windows.length);
  return Array.from({ length: parts }, (_, part) => {
    const those = windows.slice(Math.floor((part * windows.length) / parts), Math.floor(((part + 1) * windows.length) / parts));
    return those.reduce((a, b) => (spoken(b.speech) > spoken(a.speech) ? b : a));
  });
}

function spoken(spans: readonly Span[]): number {
  return spans.reduce((sum, { start, end }) => sum + end - start, 0);
}
