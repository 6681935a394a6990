import type { Sentence } from './sentences.ts';
import type { Talk } from './talk.ts';

const LEAST_WORDS = 3; // `Right?` is not a question
const AHEAD = 4; // sentences within which an answer must begin
const ANSWER = 2; // sentences of an answer to show

/** The questions of the conversation, without question tags, offers of help, and requests for account numbers and dates of birth. */
export function asked(talk: Talk): Sentence[] {
  return talk.sentences.filter(
    (sentence) =>
      sentence.question &&
      !talk.matches('anythingElse', sentence) &&
      !talk.matches('introduction', sentence) &&
      !talk.matches('verify', sentence) &&
      (sentence.words >= LEAST_WORDS || /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Thai}]/u.test(sentence.text)),
  );
}

/** The next words of another speaker; in a monologue, the next sentences. Empty if the subject changes. */
export function answerTo(talk: Talk, question: Sentence): Sentence[] {
  const alone = talk.speakers.length < 2;
  const following = talk.sentences.slice(question.index + 1, question.index + 1 + AHEAD);
  const first = following.find((sentence) => alone || sentence.speaker !== question.speaker);
  if (first === undefined || (first.question && first.words > 2)) return [];
  const answer = [first];
  for (const next of talk.sentences.slice(first.index + 1, first.index + ANSWER + 1)) {
    if (next.speaker !== first.speaker || next.question || answer.length === ANSWER) break;
    answer.push(next);
  }
  return answer;
}
