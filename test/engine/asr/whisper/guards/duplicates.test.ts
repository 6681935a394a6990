import t from 'tap';
import { withoutEchoes } from '../../../../../engine/asr/whisper/guards/duplicates.ts';
import type { Spoken } from '../../../../../engine/asr/whisper/timing/words.ts';

/** Words of equal duration from `start` on. */
function spoken(text: string, start: number, each: number): Spoken[] {
  return text.split(' ').map((word, i) => ({ text: ` ${word}`, probability: 1, start: start + i * each, end: start + (i + 1) * each }));
}

const texts = (words: readonly Spoken[]) => words.map(({ text }) => text).join('');
const SENTENCE = 'And so, my fellow Americans, ask not';

t.test('withoutEchoes() removes the copy of a sentence that has no sound', async (t) => {
  const original = [...spoken('The chemical is.', 0, 0.3), ...spoken(SENTENCE, 1, 0.4)];
  const words = [...original, ...spoken('and so my fellow Americans ask not', 4, 0.02), ...spoken('what', 5, 0.3)];
  t.strictSame(withoutEchoes(words), [...original, ...spoken('what', 5, 0.3)]);
});

t.test('withoutEchoes() removes one or two words that join a sentence to its echo, but not words spoken in between', async (t) => {
  const original = spoken('That is as good as a knight.', 0, 0.3);
  t.strictSame(withoutEchoes([...original, ...spoken('And that is as good as a knight', 2.2, 0.02)]), original);
  const joint = spoken('And', 2.1, 0.4);
  t.equal(
    texts(withoutEchoes([...original, ...joint, ...spoken('that is as good as a knight', 2.5, 0.02)])),
    texts([...original, ...joint]),
  );
  const apart = [...original, ...spoken('I have a squire now', 2.1, 0.3), ...spoken('that is as good as a knight', 3.6, 0.02)];
  t.equal(texts(withoutEchoes(apart)), texts(apart));
});

t.test('withoutEchoes() keeps the copy with a plausible duration', async (t) => {
  const original = spoken(SENTENCE, 0.2, 0.4);
  t.strictSame(withoutEchoes([...spoken(SENTENCE, 0, 0.02), ...original]), original);
});

t.test('withoutEchoes() removes an echo that begins within the sentence', async (t) => {
  const [begun, ended] = ['I really like that account of himself,', 'better than anything else he said.'];
  const words = [...spoken(begun, 0, 0.22), ...spoken(`${ended} ${begun}`, 1.6, 0.03), ...spoken(ended, 2.2, 0.3)];
  t.strictSame(withoutEchoes(words), [...spoken(begun, 0, 0.22), ...spoken(ended, 2.2, 0.3)]);
});

t.test('withoutEchoes() removes all further copies without sound', async (t) => {
  const original = spoken(SENTENCE, 0, 0.3);
  t.strictSame(withoutEchoes([...original, ...spoken(SENTENCE, 2.2, 0.01), ...spoken(SENTENCE, 2.3, 0.03)]), original);
});

t.test('withoutEchoes() keeps text that is spoken twice, even if fast', async (t) => {
  const words = [...spoken(SENTENCE, 0, 0.07), ...spoken(SENTENCE, 0.5, 0.07)];
  t.equal(texts(withoutEchoes(words)), texts(words));
});

t.test('withoutEchoes() keeps short repetitions, and fast words that repeat nothing', async (t) => {
  for (const words of [
    spoken('no no no no no no', 0, 0.02).slice(0, 6),
    spoken('one two three one two three', 0, 0.02),
    spoken(SENTENCE, 0, 0.01),
  ]) {
    t.equal(texts(withoutEchoes(words)), texts(words));
  }
  t.strictSame(withoutEchoes([]), []);
});

t.test('withoutEchoes() gives the speech under an echo to the words that touch it', async (t) => {
  const said = spoken(SENTENCE, 0, 0.3); // ends at 2.1
  const times = (words: readonly Spoken[]) =>
    withoutEchoes(words)
      .slice(6)
      .flatMap(({ start, end }) => [start, end].map((seconds) => Math.round(seconds * 100)));
  t.strictSame(times([...said, ...spoken(SENTENCE, 2.1, 0.05), ...spoken('what', 2.8, 0.3)]), [180, 245, 280, 310], 'but no pause');
  const echo = [...spoken('And so, my fellow', 2.1, 0.03), ...spoken('Americans, ask not', 2.3, 0.03)];
  t.strictSame(times([...said, ...echo, ...spoken('what', 2.39, 0.3)]), [180, 222, 230, 269]);
  const pieces = [...spoken('And so,', 2.1, 0.03), ...spoken('my fellow', 2.22, 0.03), ...spoken('Americans, ask not', 2.34, 0.03)];
  t.strictSame(times([...said, ...pieces, ...spoken('what', 2.43, 0.3)]), [180, 216, 234, 273], 'at both ends of several pieces');
  t.strictSame(times([...said, ...spoken(SENTENCE, 2.1, 0.05), ...spoken('what', 2.45, 0.3)]), [180, 245, 245, 275], 'once');
});

t.test('withoutEchoes() leaves a second or more under an echo to be decoded again', async (t) => {
  const long = 'characteristically unsatisfactory misunderstandings notwithstanding internationally acknowledged responsibilities';
  const [said, next] = [spoken(long, 0, 0.6), spoken('what', 5.32, 0.3)];
  t.strictSame(withoutEchoes([...said, ...spoken(long, 4.2, 0.16), ...next]), [...said, ...next]);
});

t.test('withoutEchoes() compares words of any script', async (t) => {
  const first = spoken('мы пойдём домой завтра утром', 0, 0.4);
  t.equal(withoutEchoes([...first, ...spoken('мы пойдём домой завтра утром', 2, 0.02)]).length, 5);
  t.equal(withoutEchoes([...first, ...spoken('мы поедем домой завтра вечером', 2, 0.02)]).length, 10);
  t.equal(withoutEchoes([...spoken('the code is 12 34', 0, 0.4), ...spoken('the code is 56 78', 2, 0.02)]).length, 10);
  const [one, other] = ['कि की कु कू', 'को कै के कौ']; // the same consonant with different vowel signs, which are combining marks
  t.equal(withoutEchoes([...spoken(one, 0, 0.4), ...spoken(other, 2, 0.02)]).length, 8);
});
