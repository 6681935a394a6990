import { join } from 'node:path';
import t from 'tap';
import { AttentionStore } from '../../../../engine/asr/whisper/attention-store.ts';
import type { Decoder } from '../../../../engine/asr/whisper/decode.ts';
import type { DecodeRequest, DecodeResult } from '../../../../engine/asr/whisper/decode-job.ts';
import { factsOf, type Whisper, WINDOW_STEPS } from '../../../../engine/asr/whisper/model.ts';
import { recognise } from '../../../../engine/asr/whisper/recognise.ts';
import { openTokenizer } from '../../../../engine/asr/whisper/tokenizer.ts';
import { CERTAINTY_RATE, SAMPLE_RATE } from '../../../../engine/types.ts';
import { readWhisper } from '../../../../models/descriptor.ts';
import { SHIPPED_FOLDER } from '../../../../models/manifest.ts';

const MODEL = join(SHIPPED_FOLDER, 'whisper-base');
const facts = factsOf(readWhisper(MODEL));
const tokenizer = await openTokenizer(MODEL);
const SECONDS = 2;

interface Decoded {
  /** Of one segment, or of several. */
  text: string | string[];
  meanLogProb: number;
  loops?: number;
}

/**
 * Recognises a window of speech, certain if longer than SECONDS, with a stub decoder that returns `decoded(request)`, in segments of equal length. Returns the words
 * and the attempts made.
 */
async function recognised(decoded: (request: DecodeRequest) => Decoded, seconds = SECONDS) {
  const decode = async (request: DecodeRequest): Promise<DecodeResult> => {
    const { text, meanLogProb, loops } = decoded(request);
    const texts = [text].flat();
    const time = (segment: number) => facts.firstTimestamp + Math.round((segment * lengthOf(request)) / texts.length / facts.tick);
    const tokens = texts.flatMap((each, i) => [time(i), ...tokenizer.encode(each), time(i + 1)]);
    const flat = new AttentionStore().keep(new Float32Array(facts.alignmentHeads * WINDOW_STEPS).fill(1 / WINDOW_STEPS));
    const languages = new Map(Object.entries({ la: 0.4, en: 0.35 }));
    const shown = { language: request.language ?? 'la', languages, noSpeech: 0.01, meanLogProb, resumed: [] };
    return { ...shown, loops, tokens, logProbs: tokens.map(() => meanLogProb), attention: [...tokens, 0].map(() => flat) };
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
    language: 'auto',
    expected: null,
    vocabulary: '',
    accurate: false,
  };
  const { words, tried } = await recognise(request, { model: { facts } as Whisper, tokenizer, decoder }, () => {});
  return { text: words.map(({ text }) => text).join(''), tried, words };
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
