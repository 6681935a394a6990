import t from 'tap';
import { seeded } from '../../../../bench/random.ts';
import { align } from '../../../../engine/asr/ctc/alignment.ts';
import { beamSearch } from '../../../../engine/asr/ctc/beam.ts';
import { greedy } from '../../../../engine/asr/ctc/greedy.ts';
import { Vocabulary } from '../../../../engine/asr/ctc/vocabulary.ts';
import { pieceOf } from '../../../../engine/asr/frames/pieces.ts';

const TOKENS = ['▁a', 'b', '▁ab', 'a', '<blk>'];
const BLANK = 4;
const pieces = TOKENS.map(pieceOf);
const WIDE = { size: 10_000, least: Number.NEGATIVE_INFINITY };

/** All paths of `frames` tokens. */
function* paths(frames: number, path: number[] = []): Generator<number[]> {
  if (path.length === frames) yield path;
  else for (const token of TOKENS.keys()) yield* paths(frames, [...path, token]);
}

const collapsed = (path: readonly number[]) => path.filter((token, i) => token !== BLANK && token !== path[i - 1]);

/** The probability of every text, as the sum over its paths. */
function probabilities(logProbs: Float32Array, frames: number): Map<string, number> {
  const found = new Map<string, number>();
  for (const path of paths(frames)) {
    const probability = Math.exp(path.reduce((sum, token, frame) => sum + logProbs[frame * TOKENS.length + token]!, 0));
    const text = collapsed(path).join(' ');
    found.set(text, (found.get(text) ?? 0) + probability);
  }
  return found;
}

function bonusOf(vocabulary: Vocabulary, text: string): number {
  const tokens = text === '' ? [] : text.split(' ').map(Number);
  return vocabulary.total(tokens.reduce((progress, token) => vocabulary.advance(progress, token), vocabulary.start));
}

/** Log-probabilities of tokens in each frame, and the same with a shift for each frame, as a model may output them. */
function random(frames: number, next: () => number): { logProbs: Float32Array; logits: Float32Array } {
  const logits = Float32Array.from({ length: frames * TOKENS.length }, () => 3 * next());
  const logProbs = logits.map((value, i) => {
    const from = i - (i % TOKENS.length);
    return value - Math.log(logits.subarray(from, from + TOKENS.length).reduce((sum, other) => sum + Math.exp(other), 0));
  });
  return { logProbs, logits };
}

t.test('beamSearch() finds the most probable of all texts, with and without a vocabulary', async (t) => {
  let different = 0;
  for (const terms of ['', 'ab', 'aba', 'a, ab ab']) {
    const vocabulary = new Vocabulary(terms, pieces, 0.7);
    for (let seed = 1; seed <= 12; seed++) {
      const { logProbs, logits } = random(5, seeded(seed).next);
      const ranked = [...probabilities(logProbs, 5)].map(
        ([text, probability]) => [text, Math.log(probability) + bonusOf(vocabulary, text)] as const,
      );
      const [best] = ranked.reduce((a, b) => (b[1] > a[1] ? b : a));
      const found = beamSearch(logits, 5, TOKENS.length, BLANK, vocabulary, WIDE);
      t.equal(found.map(({ token }) => token).join(' '), best, `"${terms}", seed ${seed}`);
      if (
        best !==
        greedy(logits, 5, TOKENS.length, BLANK)
          .map(({ token }) => token)
          .join(' ')
      )
        different++;
    }
  }
  t.ok(different > 5, `${different} of them are not what greedy decoding finds`);
});

t.test('align() takes the most probable path of a text', async (t) => {
  for (let seed = 1; seed <= 12; seed++) {
    const { logProbs } = random(5, seeded(seed).next);
    const score = (path: number[]) => path.reduce((sum, token, frame) => sum + logProbs[frame * TOKENS.length + token]!, 0);
    for (const text of [[], [0], [0, 0], [2, 1, 3]]) {
      const own = [...paths(5)].filter((path) => collapsed(path).join() === text.join());
      const best = own.reduce((a, b) => (score(b) > score(a) ? b : a));
      const found = align(logProbs, 5, TOKENS.length, BLANK, text);
      const written: number[] = new Array(5).fill(BLANK);
      for (const { token, first, end } of found) written.fill(token, first, end);
      t.strictSame(written, best, `${text}, seed ${seed}`);
      t.strictSame(
        found.map(({ token }) => token),
        text,
      );
    }
  }
});

t.test('Vocabulary gives a bonus for whole terms only, however they are written with tokens', async (t) => {
  const vocabulary = new Vocabulary('ab, Ab AB; ba', pieces, 1);
  const bonus = (...tokens: number[]) => bonusOf(vocabulary, tokens.join(' '));
  t.equal(bonus(2), 3, 'one token: a space and two letters');
  t.equal(bonus(0, 1), 3, 'the same with two tokens');
  t.equal(bonus(0), 0, 'not complete');
  t.equal(bonus(0, 1, 3), 0, '"aba" is another word');
  t.equal(bonus(2, 0), 3, 'a term before a word that is not one');
  t.equal(bonus(2, 0, 1), 6, 'a term of two words');
  t.equal(bonus(2, 2, 2), 9, 'and the shorter term again');
  t.equal(bonus(), 0);
});

t.test('Vocabulary finds terms without a space before them: in scripts without spaces, and at the beginning of a window', async (t) => {
  const tokens = ['▁', '東', '京', '東京', 'は', 'a', 'b', '、'];
  const bonus = (terms: string, text: string) => {
    const vocabulary = new Vocabulary(terms, tokens.map(pieceOf), 1);
    const progress = Array.from(text, (letter) => tokens.indexOf(letter)).reduce(
      (at, token) => vocabulary.advance(at, token),
      vocabulary.start,
    );
    return vocabulary.total(progress);
  };
  t.equal(bonus('東京', 'は東京は'), 2);
  t.equal(bonus('東京', '東は東京、東京'), 4, 'after one that was only begun, and twice');
  t.equal(bonus('東京, 京は', '東京は'), 2, 'terms do not overlap');
  t.equal(bonus('ab', 'ab▁a'), 2, 'the first word of a model that writes letters');
  t.equal(bonus('ab', 'a▁ab'), 3);
  t.equal(bonus('ab', 'aab▁ba'), 0, 'not within a word');
});
