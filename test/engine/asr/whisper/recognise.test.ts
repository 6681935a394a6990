import { join } from 'node:path';
import t from 'tap';
import type { Decoder } from '../../../../engine/asr/whisper/decoding/decode.ts';
import type { DecodeRequest, DecodeResult } from '../../../../engine/asr/whisper/decoding/decode-job.ts';
import { generator } from '../../../../engine/asr/whisper/decoding/sampling.ts';
import { factsOf, type Whisper, WINDOW_STEPS } from '../../../../engine/asr/whisper/model.ts';
import { recognise } from '../../../../engine/asr/whisper/recognise.ts';
import { AttentionStore } from '../../../../engine/asr/whisper/timing/attention-store.ts';
import { openTokenizer } from '../../../../engine/asr/whisper/tokenizer.ts';
import type { Feeds } from '../../../../engine/runtime/session.ts';
import { CERTAINTY_RATE, SAMPLE_RATE } from '../../../../engine/types.ts';
import { readWhisper } from '../../../../models/descriptor.ts';
import { SHIPPED_FOLDER } from '../../../../models/manifest.ts';

const MODEL = join(SHIPPED_FOLDER, 'whisper-base');
const descriptor = readWhisper(MODEL);
const facts = factsOf(descriptor);
const tokenizer = await openTokenizer(MODEL);
const SECONDS = 2;
const shares = new AttentionStore();

interface Decoded {
  /** Of one segment, or of several. */
  text: string | string[];
  meanLogProb: number;
  loops?: number;
  /** Seconds from the start that the segments fill; absent: all. */
  covered?: number;
  /** The row reached its limit: no end-of-text. */
  cutOff?: boolean;
  /** Speech was made to continue with the last segment, whose text is improbable. */
  guessed?: boolean;
}

/** Attention of a token to frames from `first` on. */
function looking(first: number, count = 1): Uint8Array {
  const row = new Float32Array(facts.alignmentHeads * WINDOW_STEPS);
  for (let at = Math.round(first); at < row.length; at += WINDOW_STEPS) row.fill(1, at, at + Math.max(1, Math.round(count)));
  return shares.keep(row);
}

/** A decoding as described, of a window of `seconds`: its tokens share the time of their segment equally. */
function resultOf({ text, loops, meanLogProb, covered, cutOff, guessed }: Decoded, language: string, seconds: number): DecodeResult {
  const texts = [text].flat();
  const length = (covered ?? seconds) / texts.length / facts.tick; // frames
  const segments = texts.map((each, i) => ({ said: tokenizer.encode(each), first: i * length }));
  const time = (frame: number) => facts.firstTimestamp + Math.round(frame);
  const tokens = segments.flatMap(({ said, first }) => [time(first), ...said, time(first + length)]);
  const attention = segments.flatMap(({ said, first }) => {
    const each = length / said.length;
    return [looking(first), ...said.map((_, k) => looking(first + k * each, Math.max(8, each))), looking(first + length - 1)];
  });
  if (!cutOff) attention.push(looking(texts.length * length - 1));
  const last = tokens.length - segments.at(-1)!.said.length - 2;
  return {
    ...{ language, languages: new Map(Object.entries({ la: 0.4, en: 0.35 })), noSpeech: 0.01 },
    ...{ tokens, attention, loops, meanLogProb, resumed: guessed ? [last] : [] },
    logProbs: tokens.map((_, i) => (guessed && i >= last ? -1.5 : meanLogProb)),
  };
}

/**
 * Recognises a window of speech, certain if longer than SECONDS, with a stub decoder that returns `decoded(request)`, in segments of equal length. Returns the words,
 * the attempts made, the lengths of the windows decoded, to 0.1 s, and the steps encoded for each, except for retries.
 */
async function recognised(decoded: (request: DecodeRequest) => Decoded, seconds = SECONDS, language = 'auto', accurate = false) {
  const lengths: number[] = [];
  const steps: number[] = [];
  const decode = async (request: DecodeRequest) => {
    lengths.push(Math.round(lengthOf(request) * 10) / 10);
    await request.source().catch(() => {});
    return resultOf(decoded(request), request.language ?? 'la', lengthOf(request));
  };
  const decoder = { capacity: 8, decode, release() {} } as unknown as Decoder;
  const samples = new Float32Array(seconds * SAMPLE_RATE).map((_, i) => Math.sin(i / 20) / 4);
  const speech = [{ start: 0, end: seconds }];
  const certainty = new Float32Array(seconds * CERTAINTY_RATE).fill(1);
  const request = {
    job: 1,
    samples,
    speech,
    certainty: seconds > SECONDS ? certainty : undefined,
    peak: 1,
    language,
    expected: null,
    vocabulary: '',
    accurate,
  };
  const encoder = {
    async run({ frames }: Feeds) {
      steps.push(frames!.dims[2]! / 2);
      throw new Error('There is no encoder');
    },
  };
  const model = { facts, encoder, layout: descriptor.crossAttention } as unknown as Whisper;
  const { words, tried } = await recognise(request, { model, tokenizer, decoder }, () => {});
  return { text: words.map(({ text }) => text).join(''), tried, words, lengths, steps };
}

function lengthOf({ speech }: DecodeRequest): number {
  return speech.at(-1)!.end;
}

t.test('recognise() chooses the more probable of two uncertain languages', async (t) => {
  const { text } = await recognised(({ language }) =>
    language === 'en' ? { text: ' But she said', meanLogProb: -0.2 } : { text: ' Batsi sed', meanLogProb: -0.4 },
  );
  t.equal(text, ' But she said');
});

t.test('recognise() never prefers punctuation to words, however probable it is', async (t) => {
  const { text } = await recognised(({ language }) =>
    language === 'en' ? { text: ' —', meanLogProb: -0.1 } : { text: ' But she said', meanLogProb: -0.4 },
  );
  t.equal(text, ' But she said');
});

t.test('recognise() accepts words from beam search if the first result was only punctuation', async (t) => {
  const { text } = await recognised(({ options }) =>
    options.beamSize > 1 ? { text: ' But she said', meanLogProb: -0.5 } : { text: ' —', meanLogProb: -0.1 },
  );
  t.equal(text, ' But she said');
});

t.test('recognise() decodes every window by beam search if accurate, and keeps the more probable result', async (t) => {
  const decoded = (probable: number) => (request: DecodeRequest) =>
    request.options.beamSize > 1
      ? { text: ' he is the reciter', meanLogProb: probable }
      : { text: ' he has the writer', meanLogProb: -0.1 };
  for (const [probable, accurate, heard] of [
    [-0.05, true, ' he is the reciter'],
    [-0.15, true, ' he has the writer'],
    [-0.05, false, ' he has the writer'],
  ] as const) {
    const { text, tried } = await recognised(decoded(probable), SECONDS, 'en', accurate);
    t.equal(text, heard);
    t.equal(tried.includes('timed-beam3'), accurate);
  }
});

t.test('recognise() does not sample words in place of punctuation', async (t) => {
  const { text, tried } = await recognised(() => ({ text: ' —', meanLogProb: -0.1 }));
  t.equal(text.trim(), '—');
  t.notOk(
    tried.some((options) => /\d\.\d/.test(options)),
    tried.join(),
  );
});

t.test('recognise() rejects repetitive text, however probable it is', async (t) => {
  const { text } = await recognised(({ options, language }) => {
    if (language === 'en') return { text: ' But she said', meanLogProb: -1.6 };
    return options.timestamps && options.beamSize === 1
      ? { text: ' Ka domo ine', meanLogProb: -1.1 }
      : { text: " Ka'i'i'i'i'i'i'i'i", meanLogProb: -0.5 };
  });
  t.match(text, 'Ka domo ine');
});

t.test('recognise() decodes a window again in parts if the same text fills one segment after another', async (t) => {
  const looped = { text: Array.from({ length: 10 }, () => ' of the people'), meanLogProb: -0.2, loops: 1 };
  const { text, words } = await recognised(
    (request) => (lengthOf(request) > 8 ? looped : { text: ' we heard every part of it', meanLogProb: -0.5 }),
    20,
  );
  t.notMatch(text, /people/);
  const parts = words.filter((word) => word.text === ' we');
  t.ok(parts.length >= 3, `${parts.length} parts of at most 8 s`);
  t.ok(words.at(-1)!.start > 20 - 8, 'the last one too');
});

t.test('recognise() divides a part that still loops', async (t) => {
  const { text } = await recognised((request) => {
    const looped = lengthOf(request) > 5;
    return looped ? { text: ` Ka${"'i".repeat(8)}`, meanLogProb: -0.2, loops: 0 } : { text: ' we heard all of it', meanLogProb: -0.5 };
  }, 12);
  t.notMatch(text, /'i/);
  t.ok(text.split(' we').length > 3, text);
});

/** Words of three letters that form no loop. */
function told(words: number): string {
  const random = generator(1);
  const letter = () => String.fromCharCode(97 + Math.floor(random() * 26));
  return Array.from({ length: words }, () => ` ${letter()}${letter()}${letter()}`).join('');
}

/** A decoding with two words per second. */
const heard = (request: DecodeRequest, seconds = lengthOf(request)) => ({ text: told(2 * seconds), meanLogProb: -0.2, covered: seconds });

/** The parts of a window that are decoded again, where a decoding of the whole covers the given seconds and ends with its row. */
async function partsAfter(text: string, covered: number, seconds: number) {
  const whole = { text, meanLogProb: -0.2, covered, cutOff: true };
  const { lengths } = await recognised((request) => (lengthOf(request) === seconds ? whole : heard(request)), seconds, 'en');
  return { count: lengths.length - 1, seconds: Math.round(lengths.reduce((a, b) => a + b) - seconds) };
}

t.test('recognise() decodes what is left out three times again, each time within the last', async (t) => {
  const { lengths } = await recognised((request) => heard(request, lengthOf(request) / 5), 30, 'en');
  t.strictSame(lengths, [30, 24, 19.2, 15.4]);
});

t.test('recognise() decodes the rest of a full row in parts that would fill 0.7 of a row', async (t) => {
  const rest = (rate: number) => partsAfter(tokenizer.decode(tokenizer.encode(told(6 * rate)).slice(0, 6 * rate)), 6, 20);
  t.strictSame(await rest(20), { count: 1, seconds: 14 }, 'a row of 448 tokens holds 22 s');
  t.strictSame(await rest(25), { count: 2, seconds: 14 }, 'it holds 18 s');
});

t.test('recognise() relies on a full row from 1.5 s of speech on', async (t) => {
  t.strictSame(await partsAfter(told(4), 1.9, 8), { count: 1, seconds: 6 });
  t.strictSame(await partsAfter(told(4), 1.4, 8), { count: 2, seconds: 8 }, 'else it decodes everything again, in parts');
});

t.test('recognise() keeps improbable text where speech was made to continue if 1 s of it is certainly speech', async (t) => {
  const guess = (seconds: number) =>
    recognised(() => ({ text: [' one', ' two', ' three'], meanLogProb: -0.2, guessed: true }), 3 * seconds, 'en');
  t.equal((await guess(0.9)).text, ' one two');
  t.equal((await guess(1.1)).text, ' one two three');
});

t.test('recognise() replaces the few words of a segment if 1.3 times as many are heard there', async (t) => {
  const names = ' one two three four five six seven eight nine ten eleven twelve thirteen fourteen'.split(/(?= )/);
  const few = names.slice(0, 10).join('');
  const again = (count: number) => {
    const more = names.slice(0, count).map((name) => `${name},`);
    return recognised((request) => ({ text: lengthOf(request) === 20 ? [told(20), few] : more.join(''), meanLogProb: -0.2 }), 20, 'en');
  };
  t.strictSame((await again(12)).text, told(20) + few);
  t.match((await again(14)).text, / one, two, .* fourteen,$/);
});

t.test('recognise() encodes parts that it decodes again with less padding than a window', async (t) => {
  const omitting = ({ speech }: DecodeRequest) => ({ text: told(4), meanLogProb: -0.2, covered: Math.min(4, speech.at(-1)!.end) });
  const { lengths, steps } = await recognised(omitting, 8, 'en');
  t.strictSame(lengths.slice(0, 2), [8, 4]);
  t.strictSame(steps.slice(0, 2), [1000, 250]);
});
