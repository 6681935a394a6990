import { fileURLToPath } from 'node:url';
import t from 'tap';
import { AttentionStore } from '../../../../engine/asr/whisper/attention-store.ts';
import { factsOf } from '../../../../engine/asr/whisper/model.ts';
import { openTokenizer } from '../../../../engine/asr/whisper/tokenizer.ts';
import { group, toWords } from '../../../../engine/asr/whisper/words.ts';
import { readWhisper } from '../../../../models/descriptor.ts';

const MODEL = fileURLToPath(new URL('../../../../models/whisper-base', import.meta.url));

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
