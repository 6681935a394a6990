/**
 * The extractive writer's knowledge of one language. Phrases are matched against lower-case words joined by single spaces: `|` separates
 * phrases, `*` matches the rest of a word, ` .. ` up to four words, `(a|b)` is a choice, and `(?<!no )` a negative lookbehind.
 */

const CUES = [
  'task',
  'decision',
  'objection',
  'nextStep',
  'deadline',
  'important',
  'opinion',
  'problem',
  'remedy',
  'solution',
  'greeting',
  'introduction',
  'verify',
  'apology',
  'anythingElse',
  'thanks',
  'farewell',
  'money',
  'authority',
  'need',
  'competition',
  'done',
  'positive',
  'idea',
  'feedback',
  'goal',
  'wellbeing',
  'experience',
  'motivation',
  'definition',
  'example',
  'symptom',
  'finding',
  'assessment',
  'treatment',
  'claim',
] as const;

export type Cue = (typeof CUES)[number];

export interface Language {
  /** Apostrophes end a word: `l'équipe` is two words. */
  elision?: boolean;
  /** A number with a full stop is an ordinal: `am 3. Mai`. */
  ordinals?: boolean;
  /** Letters of related languages that this one does not use, in lower-case words. */
  foreign?: RegExp;
  phrases: Record<Cue, string>;
  /** Words that begin a question, for text without question marks. */
  questions: string;
  /** Stop words, separated by spaces. */
  stop: string;
  /** Words before a noun: articles, possessives, prepositions. */
  determiners: string;
  names: {
    /** Self-introductions; NAME stands for the name. Regular expressions on the original text. */
    introductions: string[];
    /** Greetings and thanks followed by a name, separated by `|`. */
    addresses: string;
    /** Capitalised words that are not names, separated by spaces. */
    never: string;
    /** Titles that belong to a name, separated by `|`. */
    titles: string;
  };
}
