import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import type { RecognisedWindow } from '../../engine/asr/recogniser.ts';
import { recogniseAll } from '../../engine/recognition.ts';
import type { Job } from '../../engine/runtime/pool.ts';
import type { Recording, Window } from '../../engine/types.ts';

const recording = { read: async (_channel, start, end) => new Float32Array(end - start) } as Recording;
const windows: Window[] = Array.from({ length: 6 }, (_, i) => {
  const start = i * 30;
  return { pieces: [{ start, end: start + 20 }], speech: [{ start: 0, end: 20 }], peak: 1, channel: 'mix' as const };
});

/**
 * Stub recogniser: for each window the language given in `detected`, unless another is requested, or expected while the probability is below 0.9.
 * Records its calls. `meanLogProbs`: the mean log-probability of a text, by language; default 0.
 */
function recogniser(detected: [code: string, probability: number][][], meanLogProbs: Record<string, number> = {}) {
  const calls: [window: number, language: string][] = [];
  let next = 0;
  const recognise: Job['recognise'] = async ({ language: wanted, expected, read }) => {
    const samples = await read(new Float32Array(30 * 16_000));
    const window = calls.length < detected.length ? next++ : detected.findIndex(([best]) => best![1] < 0.9);
    calls.push([window, wanted]);
    const [code, probability] = detected[window]![0]!;
    const language = wanted !== 'auto' ? wanted : expected && probability < 0.9 ? expected : code;
    const words = [{ start: 1, end: 2, text: ` ${language}${samples.length ? '' : '!'}`, probability: 1 }];
    return {
      words,
      language,
      languages: detected[window]!,
      noSpeech: 0,
      meanLogProb: meanLogProbs[language] ?? 0,
      tried: [],
      uncovered: 0,
    } satisfies RecognisedWindow;
  };
  return { calls, job: { recognise } as Job };
}

function options(saved = new Map<string, Uint8Array>()) {
  const seen: number[] = [];
  const checkpoints = { load: async () => saved, save: async (key: string, bytes: Uint8Array) => void saved.set(key, bytes) };
  const { signal } = new AbortController();
  const onProgress = (fraction: number) => void seen.push(fraction);
  return {
    language: 'auto',
    vocabulary: '',
    accurate: false,
    signal,
    onProgress,
    pool: { concurrency: 8 },
    checkpoints,
    seen,
  };
}

t.test('recogniseAll() decodes every window once, and doubtful ones again if the others agree on another language', async (t) => {
  const sure: [string, number][] = [['es', 0.98]];
  const detected: [string, number][][] = [
    sure,
    sure,
    [
      ['pt', 0.55],
      ['es', 0.4],
    ],
    sure,
    [['de', 0.97]],
    sure,
  ];
  const { calls, job } = recogniser(detected, { pt: -0.5, es: -0.3 });
  const run = options();
  const { words, language } = await recogniseAll(windows, recording, job, run);
  t.equal(language, 'es');
  t.strictSame(calls.length, 7, 'six windows, one of them twice');
  t.strictSame(calls.at(-1), [2, 'es'], 'the uncertain one, in the language of the recording');
  t.strictSame(
    words.map(({ start, text }) => [start, text]),
    [
      [1, ' es'],
      [31, ' es'],
      [61, ' es'],
      [91, ' es'],
      [121, ' de'],
      [151, ' es'],
    ],
    'a window that is certainly in another language keeps it',
  );
  t.strictSame(
    run.seen,
    run.seen.toSorted((a, b) => a - b),
    'progress never decreases',
  );
});

t.test('recogniseAll() keeps a window in another language if its text is more probable', async (t) => {
  const german: [string, number][] = [['de', 0.99]];
  const english: [string, number][] = [
    ['en', 0.8],
    ['de', 0.1],
  ];
  for (const detected of [
    [english, german, german, german, german, german],
    [german, german, german, german, german, english],
  ]) {
    const { job, calls } = recogniser(detected, { en: -0.25, de: -0.7 });
    const { words, language } = await recogniseAll(windows, recording, job, options());
    t.equal(language, 'de', 'the main language');
    t.equal(calls.length, 7, 'German was tried too');
    t.strictSame(
      words.map(({ text }) => text.trim()),
      detected.map(([best]) => best![0]),
    );
  }
});

t.test('recogniseAll() expects the language of its own channel in a short answer, if that channel has enough speech', async (t) => {
  const call = windows.map((window, i) => ({
    ...window,
    channel: i < 4 ? 0 : 1,
    speech: i < 5 ? window.speech : [{ start: 0, end: 3 }],
  }));
  const english: [string, number][] = [['en', 0.98]];
  const answer: [string, number][] = [
    ['de', 0.6],
    ['en', 0.3],
  ];
  const detected: [string, number][][] = [english, english, english, english, [['de', 0.97]], answer];
  const run = () => ({ ...options(), pool: { concurrency: 1 } });
  const { calls, job } = recogniser(detected, { en: -0.5, de: -0.3 });
  const { words, language } = await recogniseAll(call, recording, job, run());
  t.equal(language, 'en', 'of the recording');
  t.strictSame(calls.at(-1), [5, 'de']);
  t.match(words.at(-1), { text: ' de', channel: 1 });
  const short = [...call.slice(0, 4), call[5]!];
  const other = recogniser([...detected.slice(0, 4), answer], { en: -0.5, de: -0.3 });
  t.match((await recogniseAll(short, recording, other.job, run())).words.at(-1), { text: ' en' }, 'three seconds do not tell');
});

t.test('recogniseAll() does not replace words by symbols, or by a text that covers less', async (t) => {
  const german: [string, number][] = [['de', 0.99]];
  const swedish: [string, number][] = [['sv', 0.8]];
  for (const [name, change] of [
    ['symbols', (found: RecognisedWindow) => ({ ...found, words: found.words.map((word) => ({ ...word, text: ' 》》》' })) })],
    ['a text that ends early', (found: RecognisedWindow) => ({ ...found, uncovered: 9 })],
  ] as const) {
    const { job } = recogniser([swedish, german, german, german, german, german], { sv: -0.8, de: -0.2 });
    const recognise: Job['recognise'] = async (window) => {
      const found = await job.recognise(window);
      return window.language === 'de' ? change(found) : found;
    };
    const { words } = await recogniseAll(windows, recording, { ...job, recognise }, options());
    t.equal(words[0]!.text.trim(), 'sv', name);
  }
});

t.test('recogniseAll() reports the seconds of speech without words', async (t) => {
  const { job } = recogniser(windows.map(() => [['en', 0.99]]));
  const missing: Job['recognise'] = async (window) => ({ ...(await job.recognise(window)), uncovered: 1.5 });
  const saved = new Map<string, Uint8Array>();
  for (const run of ['first', 'from checkpoints']) {
    const { uncoveredSeconds } = await recogniseAll(windows, recording, { ...job, recognise: missing }, options(saved));
    t.equal(uncoveredSeconds, 9, run);
  }
});

t.test('recogniseAll() reports English for an English-only model, whatever was requested', async (t) => {
  const { job } = recogniser([[['en', 1]]]);
  const only: Job['recognise'] = async (window) => ({ ...(await job.recognise(window)), language: 'en', languages: [] });
  const { language } = await recogniseAll(windows.slice(0, 1), recording, { ...job, recognise: only }, { ...options(), language: 'de' });
  t.equal(language, 'en');
});

t.test('recogniseAll() resumes from checkpoints without decoding those windows again', async (t) => {
  const saved = new Map<string, Uint8Array>();
  const sure: [string, number][] = [['en', 0.99]];
  const all = windows.map(() => sure);
  await recogniseAll(windows, recording, recogniser(all).job, options(saved));
  saved.delete([...saved.keys()][3]!);
  const { calls, job } = recogniser(all);
  const { words, language } = await recogniseAll(windows, recording, job, options(saved));
  t.equal(calls.length, 1);
  t.equal(words.length, 6);
  t.equal(language, 'en');
});

t.test('recogniseAll() decodes windows whose cuts differ from those of the checkpoints', async (t) => {
  const saved = new Map<string, Uint8Array>();
  const all = windows.map((): [string, number][] => [['en', 0.99]]);
  await recogniseAll(windows, recording, recogniser(all).job, options(saved));
  const longer = windows.map((window, i) => (i === 2 ? { ...window, pieces: [{ start: 60, end: 83 }] } : window));
  const { calls, job } = recogniser(all);
  await recogniseAll(longer, recording, job, options(saved));
  t.equal(calls.length, 1);
});

t.test('recogniseAll() never uses a checkpoint of one channel for the other', async (t) => {
  const saved = new Map<string, Uint8Array>();
  const both = ([0, 1] as const).map((channel) => ({ ...windows[0]!, channel }));
  const detected = both.map((): [string, number][] => [['en', 0.99]]);
  await recogniseAll(both.slice(0, 1), recording, recogniser(detected).job, options(saved));
  const { calls, job } = recogniser(detected);
  const { words } = await recogniseAll(both, recording, job, options(saved));
  t.equal(calls.length, 1, 'the other channel is decoded');
  t.strictSame(words.map(({ channel }) => channel).sort(), [0, 1]);
});

t.test('recogniseAll() determines the language from all windows, not from the first one', async (t) => {
  const detected = windows.map((_, i): [string, number][] => [[i === 0 ? 'de' : 'es', 0.97]]);
  t.equal((await recogniseAll(windows, recording, recogniser(detected).job, options())).language, 'es');
});

t.test('recogniseAll() begins no window after one has failed, and throws its error', async (t) => {
  let begun = 0;
  let fail = () => {};
  const failed = new Promise<void>((resolve) => {
    fail = resolve;
  });
  const recognise: Job['recognise'] = async () => {
    const own = ++begun;
    if (own > 1) await failed;
    throw new Error(`window ${own}`);
  };
  await t.rejects(recogniseAll(windows, recording, { recognise } as Job, { ...options(), pool: { concurrency: 2 } }), {
    message: 'window 1',
  });
  fail();
  await setImmediate();
  t.equal(begun, 2, `of ${windows.length} windows`);
});

t.test('recogniseAll() keeps the requested language, and reports none without windows', async (t) => {
  const { job } = recogniser([[['en', 0.99]]]);
  t.equal((await recogniseAll(windows.slice(0, 1), recording, job, { ...options(), language: 'fr' })).language, 'fr');
  t.equal((await recogniseAll([], recording, job, options())).language, null);
});

t.test('recogniseAll() expects the language of the first four windows in the ones after them', async (t) => {
  const sure: [string, number][] = [['es', 0.98]];
  const doubtful: [string, number][] = [
    ['de', 0.5],
    ['es', 0.3],
  ];
  for (const [at, calls] of [
    [3, 7],
    [4, 6],
  ] as const) {
    const tried = recogniser(
      windows.map((_, i) => (i === at ? doubtful : sure)),
      { de: -0.5 },
    );
    const { words } = await recogniseAll(windows, recording, tried.job, { ...options(), pool: { concurrency: 1 } });
    t.equal(words[at]!.text, ' es');
    t.equal(tried.calls.length, calls, `a doubtful window after ${at} others`);
  }
});
