import t from 'tap';
import type { Recogniser } from '../../../../../engine/asr/whisper/attempts.ts';
import type { DecodeRequest } from '../../../../../engine/asr/whisper/decoding/decode-job.ts';
import type { Part } from '../../../../../engine/asr/whisper/languages/mixed.ts';
import { type Heard, inParts, inSeveralLanguages } from '../../../../../engine/asr/whisper/languages/several.ts';
import { SAMPLE_RATE, type Span } from '../../../../../engine/types.ts';
import { FACTS } from '../../../../support/engine/facts.ts';

/** Four seconds, then five. */
const SPEECH = [
  { start: 0, end: 4 },
  { start: 5, end: 10 },
];
const window = {
  ...{ job: 1, samples: new Float32Array(10 * SAMPLE_RATE), speech: SPEECH, peak: 1, language: 'auto', expected: null },
  ...{ vocabulary: '', accurate: false },
};
const facts = {
  ...FACTS,
  languages: new Map([
    ['en', 1],
    ['de', 2],
  ]),
};

function heard(text: string, language: string, meanLogProb = -0.5): Heard {
  const words = text ? [{ text, start: 1, end: 2, probability: 1 }] : [];
  return { words, language, meanLogProb, languages: [[language, 1]], noSpeech: 0, tried: ['timed'] };
}

interface Case {
  /** Languages of the two parts by their sound. */
  sound: Record<string, number>[];
  /** The text of the parts, if they are decoded. */
  own: Heard[];
  parts?: Partial<Part>[];
}

/** The parts that replace those of a window in English; the parts whose languages were detected, and those decoded, in seconds. */
async function changed({ sound, own, parts = [] }: Case) {
  const index = (speech: readonly Span[]) => (speech.at(-1)!.end > 4.5 ? 1 : 0);
  const detected: number[] = [];
  const decoded: [index: number, expected: string | null][] = [];
  const decode = async ({ speech, leave }: DecodeRequest) => {
    t.strictSame(leave, ['en', 'de'], 'nothing is decoded to detect a language');
    detected.push(index(speech));
    return { languages: new Map(Object.entries(sound[index(speech)]!)) };
  };
  const recogniser = { model: { facts }, decoder: { decode } } as unknown as Recogniser;
  const all = SPEECH.map((span, i) => ({ span, meanLogProb: -0.5, improbable: false, doubted: true, ...parts[i] }));
  const hear = async ({ speech, expected }: typeof window) => {
    decoded.push([index(speech), expected]);
    return own[index(speech)]!;
  };
  const found = await inSeveralLanguages(window, heard(' all', 'en'), all, recogniser, hear as never, () => {});
  return { found: found.map(({ words, language }) => `${language}${words[0]!.text}`), detected, decoded };
}

const GERMAN = [heard(' again', 'en'), heard(' wieder', 'de', -0.9)];

t.test('inSeveralLanguages() takes the text of a part whose sound is clearly in another language, however improbable it is', async (t) => {
  const { found, decoded } = await changed({ sound: [{ en: 0.98 }, { de: 0.97 }], own: GERMAN });
  t.strictSame(found, ['de wieder']);
  t.strictSame(decoded, [[1, 'de']], 'the rest of the window keeps its text');
});

t.test('inSeveralLanguages() takes the text of a part whose language is less clear if it is more probable', async (t) => {
  const sound: Case['sound'] = [{ en: 0.98 }, { de: 0.7 }];
  t.strictSame((await changed({ sound, own: GERMAN })).found, []);
  t.strictSame((await changed({ sound, own: GERMAN, parts: [{}, { meanLogProb: -1.2 }] })).found, ['de wieder']);
});

t.test('inSeveralLanguages() lets an improbable part in no clear language find its own', async (t) => {
  const parts = [{}, { improbable: true, meanLogProb: -1.2 }];
  const { found, decoded } = await changed({ sound: [{ en: 0.98 }, { la: 0.35, hu: 0.34 }], own: GERMAN, parts });
  t.strictSame([found, decoded], [['de wieder'], [[1, null]]]);
});

t.test('inSeveralLanguages() decodes improbable parts in the language of the window again if it changes', async (t) => {
  const parts = [{ improbable: true }, {}];
  t.strictSame((await changed({ sound: [{ en: 0.98 }, { de: 0.97 }], own: GERMAN, parts })).found, ['en again', 'de wieder']);
});

t.test('inSeveralLanguages() decodes nothing if all parts sound like the language of the window', async (t) => {
  const { found, decoded } = await changed({ sound: [{ en: 0.98 }, { en: 0.6, de: 0.3 }], own: GERMAN });
  t.strictSame([found, decoded], [[], []]);
});

t.test('inSeveralLanguages() detects the language of other parts only after one in doubt is in another language', async (t) => {
  const parts = [{ doubted: false }, {}];
  t.strictSame((await changed({ sound: [{ en: 0.98 }, { en: 0.97 }], own: GERMAN, parts })).detected, [1]);
  t.strictSame((await changed({ sound: [{ en: 0.98 }, { de: 0.97 }], own: GERMAN, parts })).detected, [1, 0]);
});

t.test('inSeveralLanguages() keeps the text of a part in which nothing is heard in its own language', async (t) => {
  t.strictSame((await changed({ sound: [{ en: 0.98 }, { de: 0.97 }], own: [GERMAN[0]!, heard('', 'de')] })).found, []);
});

t.test('inSeveralLanguages() leaves out parts in a further language that nothing confirms', async (t) => {
  const own = [heard(' wieder', 'de'), heard(' otra vez', 'es', -0.9)];
  t.strictSame((await changed({ sound: [{ de: 0.97 }, { es: 0.7 }], own })).found, ['de wieder']);
});

t.test('inSeveralLanguages() keeps the text of the window if what it decodes again is in its language, too', async (t) => {
  const parts = [{}, { improbable: true, meanLogProb: -1.2 }];
  const { found, decoded } = await changed({
    ...{ sound: [{ en: 0.98 }, { la: 0.35, hu: 0.34 }], own: [heard(' again', 'en'), heard(' again', 'en', -0.3)], parts },
  });
  t.strictSame([found, decoded], [[], [[1, null]]]);
});

t.test('inSeveralLanguages() joins parts in one language in their order, whichever were in doubt', async (t) => {
  const { decoded } = await changed({ sound: [{ de: 0.97 }, { de: 0.97 }], own: GERMAN, parts: [{ doubted: false }, {}] });
  t.strictSame(decoded, [[1, 'de']], 'all of the speech at once');
});

t.test(
  'inParts() puts the words of a part in the place of those of the window, whose language is the one with the most speech',
  async (t) => {
    const word = (text: string, start: number) => ({ text, start, end: start + 1, probability: 1 });
    const part = { language: 'de', span: SPEECH[1]!, words: [word(' wieder', 6)], tried: ['timed'] };
    const whole = { ...heard(' all', 'en'), words: [word(' all', 1), word(' weed', 6), word(' her', 7)] };
    const { words, parts, language, languages, mixed, tried } = inParts(whole, [part], SPEECH);
    t.strictSame(
      words.map(({ text }) => text),
      [' all', ' wieder'],
    );
    t.strictSame(parts, [{ language: 'de', span: SPEECH[1] }]);
    t.strictSame([language, languages[0], mixed, tried], ['de', ['de', 5 / 9], true, ['timed', 'part', 'timed']]);
  },
);
