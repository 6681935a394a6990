import { join } from 'node:path';
import t from 'tap';
import { AttentionStore } from '../../../../engine/asr/whisper/attention-store.ts';
import type { Decoder } from '../../../../engine/asr/whisper/decode.ts';
import type { DecodeRequest, DecodeResult } from '../../../../engine/asr/whisper/decode-job.ts';
import { factsOf, type Whisper, WINDOW_STEPS } from '../../../../engine/asr/whisper/model.ts';
import { recognise } from '../../../../engine/asr/whisper/recognise.ts';
import { openTokenizer } from '../../../../engine/asr/whisper/tokenizer.ts';
import { SAMPLE_RATE } from '../../../../engine/types.ts';
import { readWhisper } from '../../../../models/descriptor.ts';
import { SHIPPED_FOLDER } from '../../../../models/manifest.ts';

const MODEL = join(SHIPPED_FOLDER, 'whisper-base');
const facts = factsOf(readWhisper(MODEL));
const tokenizer = await openTokenizer(MODEL);
const SECONDS = 2;

interface Decoded {
  text: string;
  meanLogProb: number;
}

/** Recognises a window with a stub decoder that returns `decoded(request)`. Returns the text and the attempts made. */
async function recognised(decoded: (request: DecodeRequest) => Decoded) {
  const decode = async (request: DecodeRequest): Promise<DecodeResult> => {
    const { text, meanLogProb } = decoded(request);
    const tokens = [facts.firstTimestamp, ...tokenizer.encode(text), facts.firstTimestamp + Math.round(SECONDS / facts.tick)];
    const flat = new AttentionStore().keep(new Float32Array(facts.alignmentHeads * WINDOW_STEPS).fill(1 / WINDOW_STEPS));
    const languages = new Map(Object.entries({ la: 0.4, en: 0.35 }));
    const shown = { language: request.language ?? 'la', languages, noSpeech: 0.01, meanLogProb, resumed: [] };
    return { ...shown, tokens, logProbs: tokens.map(() => meanLogProb), attention: [...tokens, 0].map(() => flat) };
  };
  const decoder = { capacity: 8, decode, release() {} } as unknown as Decoder;
  const samples = new Float32Array(SECONDS * SAMPLE_RATE).map((_, i) => Math.sin(i / 20) / 4);
  const speech = [{ start: 0, end: SECONDS }];
  const request = { job: 1, samples, speech, peak: 1, language: 'auto', expected: null, vocabulary: '', accurate: false };
  const { words, tried } = await recognise(request, { model: { facts } as Whisper, tokenizer, decoder }, () => {});
  return { text: words.map(({ text }) => text).join(''), tried };
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
