import type { Span } from '../../types.ts';
import { otherLanguages } from '../language.ts';
import type { Decoder } from './decode.ts';
import type { DecodeRequest, DecodeResult, DecodingOptions } from './decode-job.ts';
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

export interface RecognisedWindow {
  words: Spoken[];
  language: string;
  /** The most probable ones, with their probabilities, best first. */
  languages: [code: string, probability: number][];
  noSpeech: number;
  meanLogProb: number;
  /** Names of the decoding options that were tried, in order. */
  tried: string[];
}

const FAST: DecodingOptions = { timestamps: true, speechAware: true, beams: 1, temperature: 0 };
const PLAIN: DecodingOptions = { timestamps: false, speechAware: false, beams: 1, temperature: 0 };
const BEAMS = 3; // five cost two thirds more and found nothing more in 42 windows of joined speech
const HOTTER: DecodingOptions[] = [
  { ...PLAIN, temperature: 0.4 },
  { ...PLAIN, temperature: 0.8 },
];
const UNSURE = -0.35; // mean log-probability below which `accurate` searches with beams: in half of clean windows; in the others they gain nothing
const PROMPT = 160; // tokens of vocabulary at most
const LIKELIEST = 5; // languages that are told of a window

/** The words of one window; a stretch of it from which a sentence is missing is heard once more by itself. Throws what `check` throws when the file is no longer wanted. */
export async function recognise(request: WindowRequest, recogniser: Recogniser, check: () => void): Promise<RecognisedWindow> {
  const { thin, ...heard } = await decodeWindow(request, recogniser, check);
  for (const stretch of thin) {
    const samples = request.samples.slice(Math.round(stretch.start * SAMPLE_RATE), Math.round(stretch.end * SAMPLE_RATE));
    const part = { ...request, samples, speech: within(request.speech, stretch), language: heard.language, accurate: true };
    const again = await decodeWindow(part, recogniser, check);
    heard.tried.push('thin', ...again.tried);
    heard.words = replaced(heard.words, stretch, again.words);
  }
  return heard;
}

/** The words of one window, and the stretches for which they are far too few. */
async function decodeWindow(
  request: WindowRequest,
  recogniser: Recogniser,
  check: () => void,
): Promise<RecognisedWindow & { thin: Span[] }> {
  const { model, tokenizer } = recogniser;
  const { result, invented, tried } = await decodeWell(request, recogniser, check);
  if (invented) return { ...summary(result), words: [], tried, thin: [] };
  const levels = loudness(request.samples);
  const spoken = sounding(request.speech, levels);
  const written = toWords(
    withoutLoops(withoutGuesses(result, model.facts.firstTimestamp)),
    result.language,
    spoken,
    request.samples.length / SAMPLE_RATE,
    model.facts,
    tokenizer,
  );
  const words = withoutEchoes(written);
  return {
    ...summary(result),
    words: toSound(words, levels),
    tried,
    thin: merged([...thinStretches(result.tokens, request.speech, model.facts), ...drawnOut(words, spoken)]),
  };
}

/** The result at a window that is believed, and whether even a plain one says that nothing was spoken. */
async function decodeWell(
  request: WindowRequest,
  { model, tokenizer, decoder }: Recogniser,
  check: () => void,
): Promise<{ result: DecodeResult; invented: boolean; tried: string[] }> {
  const text = ({ tokens }: DecodeResult) => tokenizer.decode(tokens.filter((token) => token < model.facts.endOfText));
  const suspicious = (result: DecodeResult) => isSuspicious(result, text(result), request.peak);
  const poor = (result: DecodeResult) => isPoor(result, text(result));
  const wordless = (result: DecodeResult) => isWordless(text(result));
  const better = (other: DecodeResult, result: DecodeResult) => {
    if (wordless(other) === wordless(result)) return other.meanLogProb > result.meanLogProb;
    return wordless(result) && !poor(other); // a single dash may be likelier than what was said
  };
  const unsure = (result: DecodeResult) => request.accurate && result.meanLogProb < UNSURE;
  const careful: DecodingOptions = { ...FAST, beams: Math.min(BEAMS, decoder.capacity) };
  const fast: DecodeRequest = {
    file: request.job,
    options: FAST,
    source: (into) => encode(request, model, into),
    language: request.language === 'auto' ? null : knownLanguage(model.facts, request.language),
    expected: request.expected === null ? null : knownLanguage(model.facts, request.expected),
    prompt: request.vocabulary ? tokenizer.encode(` ${request.vocabulary.trim()}`).slice(0, PROMPT) : [],
    speech: request.speech,
    again: (result) => suspicious(result) || poor(result) || unsure(result),
    first: request.first,
    check,
  };
  const tried = [name(fast.options)];
  const first = await decoder.decode(fast);
  const again = (options: DecodingOptions, language: string) => {
    tried.push(name(options));
    return decoder.decode({ ...fast, options, language, source: async () => first.encoded!, again: undefined, urgent: true });
  };

  try {
    let result = first;
    if (suspicious(result)) {
      const guessed = fast.language === null && fast.expected === null;
      for (const language of guessed ? otherLanguages(result) : []) {
        const other = await again(fast.options, language);
        if (better(other, result)) result = other;
      }
      const plain = await again(PLAIN, result.language);
      if (isInvented(plain)) return { result: plain, invented: true, tried };
      if ((poor(result) || wordless(result)) && better(plain, result)) result = plain;
    }
    for (const options of [careful, ...HOTTER]) {
      if (!poor(result) && !(options === careful && (unsure(result) || wordless(result)))) break;
      const other = await again(options, result.language);
      const mended = poor(result) && !poor(other) && !wordless(other);
      if (mended || better(other, result)) result = other;
    }
    return { result, invented: false, tried };
  } finally {
    decoder.release(first);
  }
}

function summary(result: DecodeResult): Omit<RecognisedWindow, 'words' | 'tried'> {
  const { language, noSpeech, meanLogProb } = result;
  const languages = [...result.languages].sort((a, b) => b[1] - a[1]).slice(0, LIKELIEST);
  return { language, languages, noSpeech, meanLogProb };
}

function name({ timestamps, beams, temperature }: DecodingOptions): string {
  return `${timestamps ? 'timed' : 'plain'}${beams > 1 ? `-beams${beams}` : ''}${temperature > 0 ? `-${temperature}` : ''}`;
}
