import type { ReportTranscript } from '../report.ts';
import { type Code, LANGUAGES } from './cues/index.ts';
import { stopwords, wordsOf } from './words.ts';

const SAMPLE = 12_000; // characters, enough for language identification
const LEAST_SHARE = 0.33; // share of words that must be stop words of the language; 40 words of a conversation in it have 0.39 or more
const LEAST_LEAD = 1.4; // times the stop words of the next language; 40 words of a conversation in Portuguese have 1.5 times those of Spanish
const NOTES_SHARE = 0.15; // share in notes, which leave out many stop words: English ones had 0.3, German ones 0.2; not measured on more
const FOREIGN_SHARE = 0.01; // share of words that cannot be of the language, as in one related to it

/** The known language whose stop words cover most of the text; null if they cover too little of it, or hardly more than another's. */
export function guess(text: string): Code | null {
  const words = wordsOf(text.slice(0, SAMPLE), true);
  const [best, second] = (Object.keys(LANGUAGES) as Code[])
    .map((code) => ({ code, count: countOf(words, stopwords(LANGUAGES[code])) }))
    .sort((a, b) => b.count - a.count);
  const { code, count } = best!;
  const clear = count > Math.max(2, words.length * LEAST_SHARE) && count >= second!.count * LEAST_LEAD;
  return clear && !isForeign(words, code) ? code : null;
}

/** True for a text that is in another known language than `code`, also for notes, in which `guess()` finds too few stop words. */
export function isInAnother(text: string, code: Code): boolean {
  const words = wordsOf(text.slice(0, SAMPLE), true);
  const count = (of: Code) => countOf(words, stopwords(LANGUAGES[of]));
  const most = Math.max(...(Object.keys(LANGUAGES) as Code[]).filter((other) => other !== code).map(count));
  return most > Math.max(2, words.length * NOTES_SHARE) && most >= count(code) * LEAST_LEAD;
}

function countOf(words: readonly string[], wanted: ReadonlySet<string>): number {
  return words.reduce((count, word) => count + Number(wanted.has(word)), 0);
}

/** Whether too many words have letters that the language does not use. */
function isForeign(words: readonly string[], code: Code): boolean {
  const { foreign } = LANGUAGES[code];
  return foreign !== undefined && words.filter((word) => foreign.test(word)).length > words.length * FOREIGN_SHARE;
}

/** The beginning of a transcript. */
export function textOf(transcript: ReportTranscript): string {
  return transcript.segments
    .slice(0, 400)
    .map((segment) => segment.text)
    .join(' ');
}
