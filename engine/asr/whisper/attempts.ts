import { type Languages, likeliest, otherLanguages } from '../language.ts';
import type { WindowRequest } from '../recogniser.ts';
import { speechBetween } from '../speech.ts';
import type { Source } from './decoding/batch.ts';
import type { Decoder } from './decoding/decode.ts';
import type { DecodeRequest, DecodeResult, DecodingOptions } from './decoding/decode-job.ts';
import { keepsRest, prompted, vocabularyOf } from './decoding/vocabulary.ts';
import { encode, unencoded } from './encode.ts';
import { isCertain } from './guards/coverage.ts';
import { isInvented, isPoor, isSuspicious, isWordless, loop } from './guards/quality.ts';
import { type AnyWhisper, knownLanguage } from './model.ts';
import {
  BEAM_SIZE,
  DENSE_TOKENS_PER_SECOND,
  MAX_PLAUSIBLE_LOOPS,
  MAX_PROMPT_TOKENS,
  MAX_PROMPTED_TERMS,
  OTHER_LANGUAGE_PROBABILITY,
  OTHER_LANGUAGE_SECONDS,
  RETRY_PART_SECONDS,
  TOKEN_BUDGET,
  TOKEN_BUDGET_PER_SECOND,
} from './thresholds.ts';
import type { Tokenizer } from './tokenizer.ts';

const FAST: DecodingOptions = { timestamps: true, speechAware: true, beamSize: 1, temperature: 0 };
const PLAIN: DecodingOptions = { timestamps: false, speechAware: false, beamSize: 1, temperature: 0 };
const SAMPLED: DecodingOptions[] = [
  { ...PLAIN, temperature: 0.4 },
  { ...PLAIN, temperature: 0.8 },
];

/** Model, tokenizer and decoder of a thread that recognises speech. */
export interface Recogniser {
  model: AnyWhisper;
  tokenizer: Tokenizer;
  decoder: Decoder;
}

/** Limits the cost of a window with all its spans: a language that the model hardly knows is not worth every retry. */
export class Effort {
  #tokens: number;

  /** @param seconds of speech */
  constructor(seconds: number) {
    this.#tokens = TOKEN_BUDGET + TOKEN_BUDGET_PER_SECOND * seconds;
  }

  /** Whether only spans without any decoding are still decoded. */
  get spent(): boolean {
    return this.#tokens <= 0;
  }

  /** Counts the tokens of a decoding, times the number of beams. */
  count(tokens: number): void {
    this.#tokens -= tokens;
  }
}

/** How a window is decoded: as a whole if `depth` is 0, else as a span of one. */
export interface Attempts {
  effort: Effort;
  depth: number;
}

/** The probability of each language in the sound of a window or a part of one. Nothing is decoded. */
export async function languagesHeard(request: WindowRequest, { model, decoder }: Recogniser, check: () => void): Promise<Languages> {
  const { languages } = await decoder.decode({
    ...{ file: request.job, options: FAST, prompt: [], speech: request.speech, first: request.first, check },
    ...{ language: null, expected: null, leave: [...model.facts.languages.keys()] },
    source: sourceOf(request, model, true),
  });
  return languages;
}

/** Encodes a window when there is room for it. @param part of a window, which gets less padding */
function sourceOf(request: WindowRequest, model: AnyWhisper, part: boolean): Source {
  return async (into) => ('loop' in model ? unencoded(request, model) : encode({ ...request, part }, model, into));
}

/** The accepted result for a window; empty if even a plain decoding indicates that nothing was spoken. */
export async function decodeWell(
  request: WindowRequest,
  { model, tokenizer, decoder }: Recogniser,
  check: () => void,
  { effort, depth }: Attempts,
): Promise<{ result: DecodeResult; invented: boolean; tried: string[] }> {
  const { facts } = model;
  const text = ({ tokens }: DecodeResult) => tokenizer.decode(tokens.filter((token) => token < facts.endOfText));
  const suspicious = (result: DecodeResult) => isSuspicious(result, text(result), request.peak, facts);
  const certain = isCertain(request.certainty, request.speech);
  const seconds = speechBetween(request.speech, 0, Number.POSITIVE_INFINITY);
  // In certain speech, a loop is cut off and decoding continues; and where the model writes letters or bytes all tokens are improbable.
  const heardOn = ({ tokens, loops = 0 }: DecodeResult) =>
    certain &&
    ((tokens.length > DENSE_TOKENS_PER_SECOND * seconds && loop(tokens) === null) || (seconds > RETRY_PART_SECONDS && loops > 0));
  const poor = (result: DecodeResult) => isPoor(result, text(result), facts) && !heardOn(result);
  const looped = ({ tokens, loops = 0 }: DecodeResult) => loops > MAX_PLAUSIBLE_LOOPS || loop(tokens) !== null;
  const wordless = (result: DecodeResult) => isWordless(text(result));
  const better = (other: DecodeResult, result: DecodeResult) => {
    if (looped(other) !== looped(result)) return looped(result) && !wordless(other); // repetitions are probable, whatever was said
    if (wordless(other) === wordless(result)) return other.meanLogProb > result.meanLogProb;
    return wordless(result) && !poor(other); // a single dash may be more probable than the actual text
  };
  const whole = depth === 0;
  const worthMore = (result: DecodeResult) =>
    !effort.spent && (whole || request.accurate || wordless(result) || loop(result.tokens) !== null);
  const overruled = (result: DecodeResult) => {
    const { language, probability } = likeliest(result.languages);
    const doubted = request.language === 'auto' && request.expected !== null && language !== result.language;
    return doubted && probability >= OTHER_LANGUAGE_PROBABILITY && seconds >= OTHER_LANGUAGE_SECONDS ? language : null;
  };
  const vocabulary = vocabularyOf(request.vocabulary, request.language, tokenizer);
  const terms = (result: DecodeResult) => vocabulary?.count(result) ?? 0;
  const timed: DecodingOptions = { ...FAST, pastLoops: certain };
  const careful: DecodingOptions = { ...FAST, beamSize: Math.min(BEAM_SIZE, decoder.capacity) };
  const fast: DecodeRequest = {
    file: request.job,
    options: timed,
    source: sourceOf(request, model, !whole),
    language: request.language === 'auto' ? null : knownLanguage(facts, request.language),
    expected: request.expected === null ? null : knownLanguage(facts, request.expected),
    prompt: [],
    vocabulary,
    speech: request.speech,
    again: (result) => request.accurate || suspicious(result) || poor(result) || overruled(result) !== null || result.missed !== undefined,
    first: request.first,
    leave: request.leave,
    check,
  };
  const tried = [name(fast.options)];
  const decode = async (asked: DecodeRequest) => {
    const result = await decoder.decode(asked);
    effort.count(asked.options.beamSize * result.tokens.length);
    return result;
  };
  const first = await decode(fast);
  if (first.left) return { result: first, invented: false, tried };
  const again = (options: DecodingOptions, language: string, prompt: readonly number[] = []) => {
    tried.push(prompt.length ? `${name(options)}-prompt` : name(options));
    return decode({ ...fast, options, language, prompt, source: async () => first.encoded!, again: undefined, urgent: true });
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
        if (effort.spent) break;
        const other = await again(fast.options, language);
        if (better(other, result)) result = other;
      }
      if (!certain || ((poor(result) || wordless(result)) && worthMore(result))) {
        const plain = await again(PLAIN, result.language);
        if (!certain && isInvented(plain, facts)) return { result: plain, invented: true, tried };
        if ((poor(result) || wordless(result)) && better(plain, result)) result = plain;
      }
    }
    for (const options of whole || loop(result.tokens) ? [careful, ...SAMPLED] : [careful]) {
      if (!worthMore(result) || (!poor(result) && !(options === careful && (request.accurate || wordless(result))))) break;
      const other = await again(options, result.language);
      const mended = poor(result) && !poor(other) && !wordless(other);
      if (mended || better(other, result)) result = other;
    }
    if (first.missed && !effort.spent) {
      const short = (vocabulary?.size ?? 0) <= MAX_PROMPTED_TERMS;
      const prompt = short ? tokenizer.encode(prompted(first.missed)).slice(0, MAX_PROMPT_TOKENS) : [];
      const other = await again(careful, result.language, prompt);
      const gained = terms(other) - terms(result);
      const named = gained > 0 && keepsRest(text(result), text(other), gained);
      const probable = !short || other.meanLogProb > result.meanLogProb; // without a prompt the bonus limits what terms may cost
      if (named && probable && !poor(other) && !looped(other)) result = other;
    }
    return { result, invented: false, tried };
  } finally {
    decoder.release(first);
  }
}

function name({ timestamps, beamSize, temperature }: DecodingOptions): string {
  return `${timestamps ? 'timed' : 'plain'}${beamSize > 1 ? `-beam${beamSize}` : ''}${temperature > 0 ? `-${temperature}` : ''}`;
}
