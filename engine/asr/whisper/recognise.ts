import type { Span } from '../../types.ts';
import { otherLanguages } from '../language.ts';
import { speechBetween } from './constraints.ts';
import { CERTAINTY_RATE, halves, isCertain, leftOut, reliable, SHORT, shorter, spanOf, uncovered } from './coverage.ts';
import type { Decoder } from './decode.ts';
import { type DecodeRequest, type DecodeResult, type DecodingOptions, likeliest } from './decode-job.ts';
import { withoutEchoes } from './duplicates.ts';
import { encode } from './encode.ts';
import { loudness, sounding } from './loudness.ts';
import { knownLanguage, SAMPLE_RATE, type Whisper } from './model.ts';
import { drawnOut, merged, replaced, thinStretches, within } from './omissions.ts';
import { isInvented, isPoor, isSuspicious, isWordless, loop, withoutGuesses, withoutLoops } from './quality.ts';
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
  /** Speech probability of every tenth of a second; absent: no speech counts as certain. */
  certainty?: Float32Array;
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
  /** Seconds of speech that no word covers after all tries. */
  uncovered: number;
}

const FAST: DecodingOptions = { timestamps: true, speechAware: true, beamSize: 1, temperature: 0 };
const PLAIN: DecodingOptions = { timestamps: false, speechAware: false, beamSize: 1, temperature: 0 };
const BEAMS = 3; // five cost two thirds more and found nothing more in 42 windows of joined speech
const HOTTER: DecodingOptions[] = [
  { ...PLAIN, temperature: 0.4 },
  { ...PLAIN, temperature: 0.8 },
];
const UNSURE = -0.35; // mean log-probability below which `accurate` uses beam search: 50 % of clean windows; it gains nothing in the others
const MOST_DECODINGS = 16; // of one window and its stretches
const PROGRESS = 1.5; // seconds of speech that a decoding which was cut off must have got through to be relied on
const SAID = 1; // seconds of speech in a segment that is kept where the detector is certain
const DENSE = 8; // tokens a second of speech: of a language for which the model writes letters or bytes
const LIKELY = 0.5; // probability of another language than the recording's from which a window …
const LONG_ENOUGH = 2; // … of so many seconds of speech is decoded in both
const PROMPT = 160; // tokens of vocabulary at most
const LIKELIEST = 5; // languages that are told of a window

/**
 * The words of one window. Stretches of speech that a decoding leaves out, or says far too little of, are decoded once more by themselves, until all of it
 * is covered or nothing more comes of it. Throws what `check` throws when the file is no longer wanted.
 */
export async function recognise(request: WindowRequest, recogniser: Recogniser, check: () => void): Promise<RecognisedWindow> {
  const limit = { decodings: MOST_DECODINGS };
  const heard = await hearAll(request, recogniser, check, limit);
  return { ...heard, uncovered: uncovered(heard.words, request.speech) };
}

type Covered = Omit<RecognisedWindow, 'uncovered'>;

/** The words of a window or a stretch of one; `limit`: decodings that are still made for the window. */
async function hearAll(request: WindowRequest, recogniser: Recogniser, check: () => void, limit: { decodings: number }): Promise<Covered> {
  limit.decodings--;
  const { missing, thin, levels, ...heard } = await decodeWindow(request, recogniser, check);
  const parts = [...thin.map((span) => ({ span, accurate: true })), ...missing.map((span) => ({ span, accurate: request.accurate }))];
  for (const { span, accurate } of parts.flatMap(({ span, accurate }) =>
    shorter(span, request.speech, levels).map((span) => ({ span, accurate })),
  )) {
    if (limit.decodings <= 0) break;
    const again = await hearAll({ ...partOf(request, span), language: heard.language, accurate }, recogniser, check, limit);
    heard.tried.push('again', ...again.tried);
    heard.words = replaced(heard.words, span, again.words);
  }
  return heard;
}

/** A stretch of a window as one of its own. */
function partOf(request: WindowRequest, span: Span): WindowRequest {
  const [from, to] = [Math.round(span.start * SAMPLE_RATE), Math.round(span.end * SAMPLE_RATE)];
  return {
    ...request,
    samples: request.samples.slice(from, to),
    speech: within(request.speech, span),
    certainty: request.certainty?.slice(Math.floor(span.start * CERTAINTY_RATE), Math.ceil(span.end * CERTAINTY_RATE)),
    first: false,
  };
}

interface Decoded extends Covered {
  /** Stretches without words, and those for which they are far too few. */
  missing: Span[];
  thin: Span[];
  levels: Float32Array;
}

/** The words of one decoding of a window, and what it has left out. */
async function decodeWindow(request: WindowRequest, recogniser: Recogniser, check: () => void): Promise<Decoded> {
  const { model, tokenizer } = recogniser;
  const { facts } = model;
  const { result, invented, tried } = await decodeWell(request, recogniser, check);
  const levels = loudness(request.samples);
  if (invented) return { ...summary(result), words: [], tried, missing: [], thin: [], levels };
  const isSpeech = (from: number, to: number) => {
    const [start, end] = [from, to].map((token) => (token - facts.firstTimestamp) * facts.tick) as [number, number];
    const own = request.speech.map((span) => ({ start: Math.max(span.start, start), end: Math.min(span.end, end) }));
    return speechBetween(request.speech, start, end) >= SAID && isCertain(request.certainty, own);
  };
  const guarded = withoutGuesses(result, facts.firstTimestamp, isSpeech);
  const cut = reliable(guarded, facts.alignmentHeads, facts);
  const certain = isCertain(request.certainty, request.speech);
  const isShort = speechBetween(request.speech, 0, Number.POSITIVE_INFINITY) <= SHORT;
  const stuck = cut.until !== null && (isShort || !certain || speechBetween(request.speech, 0, cut.until) < PROGRESS);
  const kept = stuck ? withoutLoops(guarded) : cut.result; // a loop said once is better than nothing
  const until = stuck ? null : cut.until;
  const speech = until === null ? request.speech : within(request.speech, { start: 0, end: until });
  const spoken = sounding(speech, levels);
  const written = toWords(kept, result.language, spoken, until ?? request.samples.length / SAMPLE_RATE, facts, tokenizer);
  const words = withoutEchoes(written);
  const rest = leftOut(kept.tokens, request.speech, until, facts);
  const looped = until !== null && loop(guarded.tokens) !== null; // the same would come of the rest as a whole
  const missing = stuck ? [spanOf(request.speech)] : looped ? rest.flatMap((span) => halves(span, levels)) : rest;
  return {
    ...summary(result),
    words: toSound(words, levels),
    tried,
    missing: certain ? missing : [],
    thin: merged([...thinStretches(kept.tokens, speech, facts), ...drawnOut(words, spoken)]),
    levels,
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
  const certain = isCertain(request.certainty, request.speech);
  const seconds = speechBetween(request.speech, 0, Number.POSITIVE_INFINITY);
  // Of speech beyond doubt, a loop is cut off and the rest heard on; and where the model writes letters or bytes all tokens are improbable.
  const heardOn = ({ tokens }: DecodeResult) => certain && (tokens.length > DENSE * seconds || (seconds > SHORT && loop(tokens) !== null));
  const poor = (result: DecodeResult) => isPoor(result, text(result)) && !heardOn(result);
  const wordless = (result: DecodeResult) => isWordless(text(result));
  const better = (other: DecodeResult, result: DecodeResult) => {
    if (wordless(other) === wordless(result)) return other.meanLogProb > result.meanLogProb;
    return wordless(result) && !poor(other); // a single dash may be likelier than what was said
  };
  const unsure = (result: DecodeResult) => request.accurate && result.meanLogProb < UNSURE;
  const overruled = (result: DecodeResult) => {
    const { language, probability } = likeliest(result.languages);
    const doubted = request.language === 'auto' && request.expected !== null && language !== result.language;
    return doubted && probability >= LIKELY && seconds >= LONG_ENOUGH ? language : null;
  };
  const careful: DecodingOptions = { ...FAST, beamSize: Math.min(BEAMS, decoder.capacity) };
  const fast: DecodeRequest = {
    file: request.job,
    options: FAST,
    source: (into) => encode(request, model, into),
    language: request.language === 'auto' ? null : knownLanguage(model.facts, request.language),
    expected: request.expected === null ? null : knownLanguage(model.facts, request.expected),
    prompt: request.vocabulary ? tokenizer.encode(` ${request.vocabulary.trim()}`).slice(0, PROMPT) : [],
    speech: request.speech,
    again: (result) => suspicious(result) || poor(result) || unsure(result) || overruled(result) !== null,
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
    const own = overruled(first);
    if (own) {
      const other = await again(fast.options, own);
      if (better(other, result)) result = other;
    }
    if (suspicious(result)) {
      const guessed = fast.language === null && fast.expected === null;
      for (const language of guessed && !heardOn(result) ? otherLanguages(result) : []) {
        const other = await again(fast.options, language);
        if (better(other, result)) result = other;
      }
      if (!certain || poor(result) || wordless(result)) {
        const plain = await again(PLAIN, result.language);
        if (!certain && isInvented(plain)) return { result: plain, invented: true, tried };
        if ((poor(result) || wordless(result)) && better(plain, result)) result = plain;
      }
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

function summary(result: DecodeResult): Omit<Covered, 'words' | 'tried'> {
  const { language, noSpeech, meanLogProb } = result;
  const languages = [...result.languages].sort((a, b) => b[1] - a[1]).slice(0, LIKELIEST);
  return { language, languages, noSpeech, meanLogProb };
}

function name({ timestamps, beamSize, temperature }: DecodingOptions): string {
  return `${timestamps ? 'timed' : 'plain'}${beamSize > 1 ? `-beam${beamSize}` : ''}${temperature > 0 ? `-${temperature}` : ''}`;
}
