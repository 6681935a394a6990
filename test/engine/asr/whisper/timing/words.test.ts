import { fileURLToPath } from 'node:url';
import t from 'tap';
import { factsOf } from '../../../../../engine/asr/whisper/model.ts';
import { AttentionStore } from '../../../../../engine/asr/whisper/timing/attention-store.ts';
import { group, toWords, WITHOUT_SPACES } from '../../../../../engine/asr/whisper/timing/words.ts';
import { openTokenizer } from '../../../../../engine/asr/whisper/tokenizer.ts';
import { readWhisper } from '../../../../../models/descriptor.ts';

const MODEL = fileURLToPath(new URL('../../../../../models/whisper-base', import.meta.url));

/** A sentence in each of many scripts, and in languages that write spaces as tokens of their own. */
const SENTENCES = {
  am: 'ዛሬ የአየር ሁኔታው ጥሩ ነው።',
  ar: 'الطقس جميل اليوم، لنخرج معا.',
  ba: 'Бөгөн һауа торошо бик яҡшы, әйҙә урамға сығабыҙ.',
  bn: 'আজ আবহাওয়া খুব ভালো, চলো বাইরে যাই।',
  de: 'Das Wetter ist schön, „sagte“ Müller (gestern).',
  el: 'Σήμερα ο καιρός είναι πολύ καλός.',
  en: 'The weather is fine today, he said: "Let\'s go" (twice).',
  fr: 'Il fait beau aujourd’hui, n’est-ce pas ?',
  gu: 'આજે હવામાન ખૂબ સારું છે, ચાલો બહાર જઈએ.',
  he: 'מזג האוויר היום יפה מאוד.',
  hi: 'आज मौसम बहुत अच्छा है, चलो बाहर चलें।',
  hy: 'Այսօր եղանակը շատ լավ է, գնանք դուրս։',
  ka: 'დღეს ამინდი ძალიან კარგია.',
  kk: 'Бүгін ауа райы өте жақсы, қыдырып қайтайық.',
  kn: 'ಇಂದು ಹವಾಮಾನ ತುಂಬಾ ಚೆನ್ನಾಗಿದೆ.',
  ko: '오늘 날씨가 아주 좋네요, 밖으로 나갑시다.',
  ml: 'ഇന്ന് കാലാവസ്ഥ വളരെ നല്ലതാണ്, നമുക്ക് പുറത്തുപോകാം.',
  mr: 'आज हवामान खूप छान आहे.',
  ne: 'आज मौसम धेरै राम्रो छ।',
  pa: 'ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਵਧੀਆ ਹੈ, ਚਲੋ ਬਾਹਰ ਚੱਲੀਏ।',
  ru: 'Сегодня очень хорошая погода, пойдём гулять.',
  si: 'අද කාලගුණය ඉතා හොඳයි, අපි එළියට යමු.',
  ta: 'இன்று வானிலை நன்றாக உள்ளது.',
  te: 'ఈ రోజు వాతావరణం చాలా బాగుంది, మనం "బయటకు" వెళ్దాం.',
  tg: 'Имрӯз ҳаво хеле хуб аст, биёед ба берун равем.',
  tt: 'Бүген һава бик яхшы.',
  uk: 'Сьогодні дуже гарна погода.',
  ur: 'آج موسم بہت اچھا ہے۔',
  vi: 'Hôm nay thời tiết rất đẹp.',
  yi: 'דער וועטער איז הײַנט זייער שיין.',
  bo: 'དེ་རིང་གནམ་གཤིས་ཡག་པོ་འདུག ང་ཚོ་འགྲོ།',
  ja: '今日は天気がとてもいいです。「東京」へ 行きましょう。',
  km: 'ថ្ងៃនេះ អាកាសធាតុល្អណាស់។',
  lo: 'ມື້ນີ້ອາກາດດີຫຼາຍ ພວກເຮົາໄປນອກ',
  my: 'ဒီနေ့ ရာသီဥတု အရမ်းကောင်းတယ်။',
  th: 'วันนี้อากาศดีมาก เราไปข้างนอกกันเถอะ',
  yue: '今日天氣好好，我哋出去行下啦。',
  zh: '今天天气很好，我们在Longhand工作。',
};

t.test('words', async (t) => {
  const tokenizer = await openTokenizer(MODEL);
  const facts = factsOf(readWhisper(MODEL));
  const texts = (text: string, spaces = true) => group(tokenizer.encode(text), spaces, tokenizer).map(({ text }) => text);

  t.test('group() keeps words whole and punctuation with its word', async (t) => {
    t.strictSame(texts(' Unquestionably, he said: "Yes" (twice) at 5.30!'), [
      ' Unquestionably,',
      ' he',
      ' said:',
      ' "Yes"',
      ' (twice)',
      ' at',
      ' 5.30!',
    ]);
  });

  t.test('group() splits languages without spaces by token, and others by word', async (t) => {
    t.strictSame(texts('我在Longhand工作。', false), ['我在', 'Longhand', '工作。']);
    t.strictSame(
      texts('我在Zürich的Café, Łódź和Санкт-Петербург。', false).filter((text) => /[^\p{Script=Han}。]/u.test(text)),
      ['Zürich', 'Café,', ' Łódź', 'Санкт-Петербург。'],
      'names in letters beyond ASCII',
    );
  });

  t.test('group() never splits a character', async (t) => {
    const words = texts(' naïve 👩‍🚀 東京', true).join('');
    t.notMatch(words, /\ufffd/);
    t.match(words, /naïve/);
  });

  t.test('group() keeps the words after an invalid byte separate', async (t) => {
    const [lead, middle] = tokenizer.encode(' 👩'); // bytes of one character; neither is a character by itself
    const words = (tokens: number[], spaces = true) => group(tokens, spaces, tokenizer);
    const more = tokenizer.encode(' my dear friend');
    for (const stray of [[lead!], [middle!], [lead!, lead!], [middle!, middle!, lead!]]) {
      const found = words([...more, ...stray, ...more]);
      t.strictSame(
        found.map(({ text }) => text.trim()),
        ['my', 'dear', 'friend', 'my', 'dear', 'friend'],
      );
      t.equal(
        found.reduce((sum, { count }) => sum + count, 0),
        2 * more.length + stray.length,
        'every token belongs to a word',
      );
    }
    const town = tokenizer.encode('กรุงเทพ');
    t.strictSame(
      words([middle!, ...town], false).map(({ text }) => text),
      words(town, false).map(({ text }) => text),
    );
  });

  t.test('group() keeps the text of every script, with its spaces', async (t) => {
    const joined = (text: string, spaces: boolean) => {
      const tokens = tokenizer.encode(text);
      const groups = group(tokens, spaces, tokenizer);
      const count = groups.reduce((sum, found) => sum + found.count, 0);
      return { text: groups.map((found) => found.text).join(''), allTokens: count === tokens.length };
    };
    for (const [language, text] of Object.entries(SENTENCES)) {
      const spaces = !WITHOUT_SPACES.has(language);
      const written = spaces ? ` ${text}` : text;
      t.strictSame(joined(written, spaces), { text: written, allTokens: true }, language);
      if (spaces) t.equal(group(tokenizer.encode(written), true, tokenizer).length, text.split(/ (?!\?)/).length, `${language}: each word`);
    }
  });

  t.test('group() gives a mark after a space to the word before it', async (t) => {
    t.strictSame(texts(' Bonjour ! Ça va ?'), [' Bonjour !', ' Ça', ' va ?']);
    t.strictSame(texts(' আমি যাই । চলো ।'), [' আমি', ' যাই ।', ' চলো ।']);
  });

  t.test('group() gives no word without text', async (t) => {
    const [space] = tokenizer.encode(' ');
    const [word] = tokenizer.encode(' one');
    const lead = tokenizer.encode(' 👩')[0]!;
    t.strictSame(group([space!], true, tokenizer), []);
    t.strictSame(group([lead], true, tokenizer), []);
    t.strictSame(group([word!, space!], true, tokenizer), [{ text: ' one', count: 2, blank: 0 }]);
    t.strictSame(group([space!, word!], true, tokenizer), [{ text: ' one', count: 2, blank: 1 }], 'one space');
  });

  t.test('toWords() gives a space of its own no time and no probability', async (t) => {
    const [space] = tokenizer.encode(' ');
    const tokens = [space!, tokenizer.encode('one')[0]!, space!, tokenizer.encode('two')[0]!];
    const shares = new AttentionStore();
    const row = (first: number, end: number) => {
      const attention = new Float32Array(facts.alignmentHeads * 1500).fill(1e-5);
      for (let head = 0; head < facts.alignmentHeads; head++) attention.fill(0.02, head * 1500 + first, head * 1500 + end);
      return shares.keep(attention);
    };
    const attention = [row(0, 20), row(20, 40), row(40, 60), row(60, 98)];
    const decoded = { tokens, logProbs: [-5, Math.log(0.5), -5, 0], attention };
    const words = toWords(decoded, 'te', [{ start: 0, end: 1.96 }], 1.96, { ...facts, tick: 0.02 }, tokenizer);
    t.match(words, [
      { text: ' one', start: 0.4, end: 1.2, probability: 0.5 },
      { text: ' two', start: 1.2, end: 1.96, probability: 1 },
    ]);
  });

  t.test('toWords() begins a window with a space, except in languages without them and before a mark', async (t) => {
    const beginnings: [text: string, language: string, expected: string][] = [
      ['one', 'en', ' one'],
      [' one', 'en', ' one'],
      ['హలో', 'te', ' హలో'],
      ['(one)', 'en', ' (one)'],
      [', one', 'en', ','],
      ['東京', 'ja', '東'],
      ['Python', 'zh', ' Python'],
      ['2020年', 'zh', '2020'],
    ];
    for (const [text, language, expected] of beginnings) {
      const tokens = tokenizer.encode(text);
      const shares = new AttentionStore();
      const attention = tokens.map(() => shares.keep(new Float32Array(facts.alignmentHeads * 1500).fill(0.01)));
      const decoded = { tokens, logProbs: tokens.map(() => 0), attention };
      const [word] = toWords(decoded, language, [{ start: 0, end: 2 }], 2, { ...facts, tick: 0.02 }, tokenizer);
      t.equal(word!.text, expected, text);
    }
  });

  t.test('group() leaves out marks of the direction of text, which are no words', async (t) => {
    t.strictSame(texts(' \u202b \u202bאם שום\u202c,'), [' אם', ' שום,']);
    t.strictSame(texts(' \u202bאם'), [' אם']);
    t.strictSame(texts(' one \u202b'), [' one']);
    t.strictSame(texts(' \u202b'), []);
  });

  t.test('toWords() keeps the words of two segments apart in languages without spaces, if their letters have them', async (t) => {
    const segments: [first: string, second: string, language: string, expected: string][] = [
      [' the fireman', 'I tell thee', 'ja', 'the fireman I tell thee'],
      ['彼は', 'I tell', 'ja', '彼は I tell'],
      ['价格是10', '20', 'zh', '价格是10 20'],
      ['价格是', '20', 'zh', '价格是20'],
      ['今日は', '東京へ', 'ja', '今日は東京へ'],
      [' wea', 'ther', 'en', 'weather'],
      [' week', ' the', 'en', 'week the'],
    ];
    for (const [first, second, language, expected] of segments) {
      const time = facts.firstTimestamp;
      const tokens = [time, ...tokenizer.encode(first), time + 50, time + 50, ...tokenizer.encode(second), time + 100];
      const shares = new AttentionStore();
      const attention = tokens.map(() => shares.keep(new Float32Array(facts.alignmentHeads * 1500).fill(0.01)));
      const words = toWords({ tokens, logProbs: tokens.map(() => 0), attention }, language, [{ start: 0, end: 2 }], 2, facts, tokenizer);
      t.equal(
        words
          .map(({ text }) => text)
          .join('')
          .trim(),
        expected,
      );
    }
  });

  t.test('toWords() starts a word after a pause and never exceeds the end', async (t) => {
    const tokens = tokenizer.encode(' one two');
    t.equal(tokens.length, 2);
    const frames = 1500;
    const shares = new AttentionStore();
    const row = (first: number, end: number) => {
      const attention = new Float32Array(facts.alignmentHeads * frames).fill(1e-5);
      for (let head = 0; head < facts.alignmentHeads; head++) attention.fill(0.02, head * frames + first, head * frames + end);
      return shares.keep(attention);
    };
    const decoded = {
      tokens: [facts.firstTimestamp, ...tokens, facts.firstTimestamp + 100],
      logProbs: [0, Math.log(0.5), 0, 0],
      attention: [row(0, 1500), row(0, 25), row(75, 98), row(0, 1500), row(98, 100)],
    };
    const speech = [
      { start: 0, end: 0.5 },
      { start: 1.5, end: 2 },
    ];
    const [one, two] = toWords(decoded, 'en', speech, 1.95, { ...facts, tick: 0.02 }, tokenizer);
    t.match(one, { text: ' one', start: 0, end: 0.5, probability: 0.5 });
    t.match(two, { text: ' two', start: 1.5, probability: 1 });
    t.ok(two!.end > 1.9 && two!.end <= 1.95, `ends at the end of the window: ${two!.end}`);
  });

  t.test('toWords() returns no words for no text', async (t) => {
    t.strictSame(toWords({ tokens: [facts.firstTimestamp], logProbs: [0], attention: [] }, 'en', [], 5, facts, tokenizer), []);
  });
});
