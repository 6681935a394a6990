/**
 * What the built-in writer knows about one language. Phrases are matched against lower-case words joined by single spaces:
 * `|` separates phrases, `*` is the rest of a word, ` .. ` is up to four words in between, `(a|b)` is a choice, `(?<!no )` forbids what stands before.
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
  phrases: Record<Cue, string>;
  /** Words that open a question, for text without question marks. */
  questions: string;
  /** Words too common to carry a topic, separated by spaces. */
  stop: string;
  /** Words that stand before a noun: articles, possessives, prepositions. */
  determiners: string;
  names: {
    /** How people introduce themselves; NAME stands for the name. Regular expressions over the original text. */
    introductions: string[];
    /** Greetings and thanks that a name follows, separated by `|`. */
    addresses: string;
    /** Capitalised words that are no names, separated by spaces. */
    never: string;
    /** Forms of address that belong to a name, separated by `|`. */
    titles: string;
  };
}
