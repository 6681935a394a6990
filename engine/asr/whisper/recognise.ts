import type { Span } from '../../types.ts';
import { otherLanguages } from '../language.ts';
import type { Decoder } from './decode.ts';
import type { Attempt, Manner, Order } from './decode-job.ts';
import { withoutEchoes } from './duplicates.ts';
import { encode } from './encode.ts';
import { loudness, sounding } from './loudness.ts';
import { knownLanguage, SAMPLE_RATE, type Whisper } from './model.ts';
import { drawnOut, merged, replaced, thinStretches, within } from './omissions.ts';
import { isInvented, isPoor, isSuspicious, isWordless, withoutGuesses, withoutLoops } from './quality.ts';
import { toSound } from './snap-words.ts';
import type { Tokenizer } from './tokenizer.ts';
import { type Spoken, toWords } from './words.ts';

/** What is needed on a thread to recognise speech. */
export interface Recogniser {
  model: Whisper;
  tokenizer: Tokenizer;
  decoder: Decoder;
}

/** One window to be recognised. Spans are seconds of the window. */
export interface WindowRequest {
  /** The file it belongs to. */
  job: number;
  /** At 16 kHz, in [-1, 1); at most the model's window. */
  samples: Float32Array;
  speech: Span[];
  /** Highest speech probability inside. */
  peak: number;
  /** ISO code, or 'auto'. */
  language: string;
  /** With 'auto', the recording's language, kept unless the window is clearly in another one; null: not known. */
  expected: string | null;
  vocabulary: string;
  /** Beams where the model is not sure. */
  accurate: boolean;
  /** Among the first windows of its file: these go before all others. */
  first?: boolean;
}

export interface Heard {
  words: Spoken[];
  language: string;
  /** The most probable ones, with their probabilities, best first. */
  languages: [code: string, probability: number][];
  noSpeech: number;
  meanLogProb: number;
  /** Manners that were tried, in order. */
  tried: string[];
}

const FAST: Manner = { timestamps: true, speechAware: true, beams: 1, temperature: 0 };
const PLAIN: Manner = { timestamps: false, speechAware: false, beams: 1, temperature: 0 };
const BEAMS = 3; // five cost two thirds more and found nothing more in 42 windows of joined speech
const HOTTER: Manner[] = [
  { ...PLAIN, temperature: 0.4 },
  { ...PLAIN, temperature: 0.8 },
];
const UNSURE = -0.35; // mean log-probability below which `accurate` searches with beams: in half of clean windows; in the others they gain nothing
const PROMPT = 160; // tokens of vocabulary at most
const LIKELIEST = 5; // languages that are told of a window

/** The words of one window; a stretch of it from which a sentence is missing is heard once more by itself. Throws what `check` throws when the file is no longer wanted. */
export async function recognise(request: WindowRequest, recogniser: Recogniser, check: () => void): Promise<Heard> {
  const { thin, ...heard } = await hear(request, recogniser, check);
  for (const stretch of thin) {
    const samples = request.samples.slice(Math.round(stretch.start * SAMPLE_RATE), Math.round(stretch.end * SAMPLE_RATE));
    const part = { ...request, samples, speech: within(request.speech, stretch), language: heard.language, accurate: true };
    const again = await hear(part, recogniser, check);
    heard.tried.push('thin', ...again.tried);
    heard.words = replaced(heard.words, stretch, again.words);
  }
  return heard;
}

/** The words of one window, and the stretches for which they are far too few. */
async function hear(request: WindowRequest, recogniser: Recogniser, check: () => void): Promise<Heard & { thin: Span[] }> {
  const { model, tokenizer } = recogniser;
  const { attempt, invented, tried } = await decodeWell(request, recogniser, check);
  if (invented) return { ...summary(attempt), words: [], tried, thin: [] };
  const levels = loudness(request.samples);
  const spoken = sounding(request.speech, levels);
  const written = toWords(
    withoutLoops(withoutGuesses(attempt, model.facts.firstTimestamp)),
    attempt.language,
    spoken,
    request.samples.length / SAMPLE_RATE,
    model.facts,
    tokenizer,
  );
  const words = withoutEchoes(written);
  return {
    ...summary(attempt),
    words: toSound(words, levels),
    tried,
    thin: merged([...thinStretches(attempt.tokens, request.speech, model.facts), ...drawnOut(words, spoken)]),
  };
}

/** The attempt at a window that is believed, and whether even a plain one says that nothing was spoken. */
async function decodeWell(
  request: WindowRequest,
  { model, tokenizer, decoder }: Recogniser,
  check: () => void,
): Promise<{ attempt: Attempt; invented: boolean; tried: string[] }> {
  const text = ({ tokens }: Attempt) => tokenizer.decode(tokens.filter((token) => token < model.facts.endOfText));
  const suspicious = (attempt: Attempt) => isSuspicious(attempt, text(attempt), request.peak);
  const poor = (attempt: Attempt) => isPoor(attempt, text(attempt));
  const wordless = (attempt: Attempt) => isWordless(text(attempt));
  const better = (other: Attempt, attempt: Attempt) => {
    if (wordless(other) === wordless(attempt)) return other.meanLogProb > attempt.meanLogProb;
    return wordless(attempt) && !poor(other); // a single dash may be likelier than what was said
  };
  const unsure = (attempt: Attempt) => request.accurate && attempt.meanLogProb < UNSURE;
  const careful: Manner = { ...FAST, beams: Math.min(BEAMS, decoder.capacity) };
  const order: Order = {
    job: request.job,
    manner: FAST,
    source: (into) => encode(request, model, into),
    language: request.language === 'auto' ? null : knownLanguage(model.facts, request.language),
    expected: request.expected === null ? null : knownLanguage(model.facts, request.expected),
    prompt: request.vocabulary ? tokenizer.encode(` ${request.vocabulary.trim()}`).slice(0, PROMPT) : [],
    speech: request.speech,
    again: (attempt) => suspicious(attempt) || poor(attempt) || unsure(attempt),
    first: request.first,
    check,
  };
  const tried = [name(order.manner)];
  const first = await decoder.decode(order);
  const again = (manner: Manner, language: string) => {
    tried.push(name(manner));
    return decoder.decode({ ...order, manner, language, source: async () => first.encoded!, again: undefined, urgent: true });
  };

  try {
    let attempt = first;
    if (suspicious(attempt)) {
      const guessed = order.language === null && order.expected === null;
      for (const language of guessed ? otherLanguages(attempt) : []) {
        const other = await again(order.manner, language);
        if (better(other, attempt)) attempt = other;
      }
      const plain = await again(PLAIN, attempt.language);
      if (isInvented(plain)) return { attempt: plain, invented: true, tried };
      if ((poor(attempt) || wordless(attempt)) && better(plain, attempt)) attempt = plain;
    }
    for (const manner of [careful, ...HOTTER]) {
      if (!poor(attempt) && !(manner === careful && (unsure(attempt) || wordless(attempt)))) break;
      const other = await again(manner, attempt.language);
      const mended = poor(attempt) && !poor(other) && !wordless(other);
      if (mended || better(other, attempt)) attempt = other;
    }
    return { attempt, invented: false, tried };
  } finally {
    decoder.release(first);
  }
}

function summary(attempt: Attempt): Omit<Heard, 'words' | 'tried'> {
  const { language, noSpeech, meanLogProb } = attempt;
  const languages = [...attempt.languages].sort((a, b) => b[1] - a[1]).slice(0, LIKELIEST);
  return { language, languages, noSpeech, meanLogProb };
}

function name({ timestamps, beams, temperature }: Manner): string {
  return `${timestamps ? 'timed' : 'plain'}${beams > 1 ? `-beams${beams}` : ''}${temperature > 0 ? `-${temperature}` : ''}`;
}
