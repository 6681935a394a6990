import { replaced, samplesOf, withinSpan } from './asr/parts.ts';
import type { LanguageSpan, RecognisedWindow } from './asr/recogniser.ts';
import { speechBetween } from './asr/speech.ts';
import type { Job, UnreadWindow } from './runtime/pool.ts';
import type { Fallback, HeardStretch, Routes, Span } from './types.ts';

/** A recognised window with the models whose words it has: stretches in seconds of the window, in order. */
export interface RoutedWindow extends RecognisedWindow {
  stretches: HeardStretch[];
}

/* When a model is unsure of a window, the resident model recognises it: docs/decisions/speech-recognition.md. */
const UNSURE_PROBABILITY = 0.5; // mean probability of its words, if its self-check had no clips in its languages; as the self-check demands
const UNSURE_UNCOVERED = 0.5; // share of the speech without words

/**
 * The words of a window from the model of its language. With automatic detection the resident model detects the language, and decodes the
 * window only if that language has no model of its own. If the language changes within a window, the models of both recognise their parts.
 */
export async function recogniseRouted(job: Job, window: UnreadWindow, routes: Routes): Promise<RoutedWindow> {
  const { byLanguage } = routes;
  if (window.language !== 'auto') {
    const tried = await attempt(job, window, window.language, routes);
    return sure(tried) ?? residentInstead(job, window, tried, routes);
  }
  const first = await job.recognise({ ...window, leave: [...byLanguage.keys()] });
  if (!first.left || first.language === null) return withParts(job, window, first, routes);
  const tried = await attempt(job, window, first.language, routes);
  const heard = sure(tried);
  const { language, languages, noSpeech } = first;
  return heard ? { ...heard, language, languages, noSpeech } : residentInstead(job, window, tried, routes);
}

/** Result of a language's model for a window, and the reason if it is not used. Empty: the language has no model of its own. */
interface Attempt {
  heard?: RoutedWindow;
  fallback?: Fallback;
}

async function attempt(job: Job, window: UnreadWindow, language: string, { byLanguage, least }: Routes): Promise<Attempt> {
  const model = byLanguage.get(language);
  if (!model) return {};
  try {
    const found = await job.recognise({ ...window, language, expected: null, model });
    const heard = { ...found, stretches: [stretchOf(window, model, language)] };
    return isUnsure(found, window, least.get(model)) ? { heard, fallback: { model, why: 'unsure' } } : { heard };
  } catch (error) {
    job.signal.throwIfAborted();
    return { fallback: { model, why: 'failed', message: (error as Error).message } };
  }
}

function sure({ heard, fallback }: Attempt): RoutedWindow | null {
  return heard && !fallback ? heard : null;
}

/** Whether a model's words for a window are too few or too improbable. @param least mean probability that its self-check found usual */
function isUnsure({ words, uncovered }: RecognisedWindow, { speech }: UnreadWindow, least = UNSURE_PROBABILITY): boolean {
  const probability = words.reduce((sum, word) => sum + word.probability, 0) / Math.max(1, words.length);
  return probability < least || uncovered > UNSURE_UNCOVERED * speechBetween(speech, 0, Number.POSITIVE_INFINITY);
}

/** The resident model's words, or those of the unsure one if it has none. */
async function residentInstead(job: Job, window: UnreadWindow, tried: Attempt, routes: Routes): Promise<RoutedWindow> {
  const heard = await withParts(job, window, await job.recognise(window), routes, tried.fallback);
  return tried.heard && !heard.words.length ? tried.heard : heard;
}

/** A window of the resident model, in which parts in other languages have the words of their models. */
async function withParts(
  job: Job,
  window: UnreadWindow,
  heard: RecognisedWindow,
  routes: Routes,
  fallback?: Fallback,
): Promise<RoutedWindow> {
  const routed = (heard.parts ?? []).filter(({ language }) => routes.byLanguage.has(language));
  const tried = await Promise.all(routed.map(({ language, span }) => attempt(job, partOf(window, span), language, routes)));
  const stretches: HeardStretch[] = [];
  let { words } = heard;
  const resident = (span: Span, language: string | null) => {
    const stretch = stretchOf(window, routes.resident, language, span);
    if (stretch.seconds > 0 || !routed.length) stretches.push({ ...stretch, ...(fallback && { fallback }) });
  };
  let end = 0;
  for (const [i, part] of routed.entries()) {
    const own = sure(tried[i]!);
    if (!own) continue;
    resident({ start: end, end: part.span.start }, heard.language);
    stretches.push(stretchOf(window, own.stretches[0]!.model, part.language, part.span));
    words = replaced(words, part.span, own.words, 0);
    end = part.span.end;
  }
  resident({ start: end, end: Math.max(end, lengthOf(window)) }, heard.language);
  return { ...heard, words, stretches };
}

/** A span of a window as a window of its own. */
function partOf(window: UnreadWindow, span: LanguageSpan['span']): UnreadWindow {
  const read = async (room: Float32Array) => (await window.read(room)).subarray(...samplesOf(span));
  return { ...withinSpan(window, span), read };
}

function stretchOf(window: UnreadWindow, model: string, language: string | null, span?: Span): HeardStretch {
  const { start, end } = span ?? { start: 0, end: lengthOf(window) };
  return { start, end, model, language, seconds: speechBetween(window.speech, start, end) };
}

/** Seconds of a window up to the end of its speech. */
function lengthOf({ speech }: UnreadWindow): number {
  return speech.at(-1)?.end ?? 0;
}
