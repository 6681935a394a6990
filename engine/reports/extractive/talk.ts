import type { ReportTranscript } from '../report.ts';
import type { Cue, Language } from './cues/cue.ts';
import { type Code, isKnown, LANGUAGES } from './cues/index.ts';
import { guess, textOf } from './guess.ts';
import { centrality, type Matrix, matrixOf } from './rank.ts';
import { type Sentence, sentencesOf } from './sentences.ts';
import { compile, compileOpening } from './words.ts';

export interface Speaker {
  label: string;
  seconds: number;
  words: number;
  /** Share of all words, 0 to 1. */
  share: number;
}

/** A transcript as the extractive writer uses it: sentences with their weights and matched cues. */
export interface Talk {
  transcript: ReportTranscript;
  /** The language of the headings. */
  code: Code;
  /** Null if there are no cues for this language. */
  language: Language | null;
  sentences: Sentence[];
  matrix: Matrix;
  /** Weight of each sentence, 1 on average. */
  scores: Float64Array;
  speakers: Speaker[];
  matches(cue: Cue, sentence: Sentence): boolean;
}

const OPENING = 0.25; // first part of a conversation, in which its reason is given

export function talkOf(transcript: ReportTranscript): Talk {
  const code = transcript.language ?? guess(textOf(transcript));
  const language = isKnown(code) ? LANGUAGES[code] : null;
  const sentences = sentencesOf(transcript.segments, language, language && compileOpening(language.questions));
  const matrix = matrixOf(sentences);
  const matches = (cue: Cue, sentence: Sentence) => language !== null && pattern(language, cue).test(sentence.plain);
  return {
    transcript,
    code: isKnown(code) ? code : 'en',
    language,
    sentences,
    matrix,
    scores: weigh(sentences, centrality(matrix), language, matches),
    speakers: speakersOf(transcript, sentences),
    matches,
  };
}

const patterns = new WeakMap<Language, Map<Cue, RegExp>>();

function pattern(language: Language, cue: Cue): RegExp {
  const known = patterns.get(language) ?? new Map<Cue, RegExp>();
  patterns.set(language, known);
  let found = known.get(cue);
  if (found === undefined) known.set(cue, (found = compile(language.phrases[cue])));
  return found;
}

/** Centrality, adjusted for what makes a sentence good or bad in a summary. */
function weigh(sentences: Sentence[], central: Float64Array, language: Language | null, matches: Talk['matches']): Float64Array {
  let verified = false; // the previous sentence asked for an identification
  return central.map((rank, index) => {
    const sentence = sentences[index]!;
    let score = rank * lengthFactor(sentence);
    if (language !== null && sentence.terms.length / sentence.words < 0.25) score *= 0.6;
    if (sentence.question) score *= 0.5;
    if (matches('important', sentence)) score *= 1.5;
    if (matches('decision', sentence) || matches('problem', sentence)) score *= 1.25;
    const early = index < sentences.length * OPENING && sentence.words >= 8;
    if (early && (matches('problem', sentence) || matches('need', sentence))) score *= 1.3; // reason for the conversation
    const verifies = matches('verify', sentence);
    if (verifies || verified) score *= 0.3; // account numbers and dates of birth
    verified = verifies;
    if (matches('introduction', sentence) || matches('apology', sentence)) score *= 0.4;
    if (sentence.words < 14 && (matches('greeting', sentence) || matches('thanks', sentence) || matches('farewell', sentence)))
      score *= 0.3;
    if (/\d/.test(sentence.text)) score *= 1.1;
    return score;
  });
}

function lengthFactor({ words }: Sentence): number {
  if (words < 4) return 0.1;
  if (words < 7) return 0.5;
  if (words < 10) return 0.85;
  return words > 45 ? 0.7 : 1;
}

function speakersOf(transcript: ReportTranscript, sentences: Sentence[]): Speaker[] {
  const found = new Map<string, Speaker>();
  for (const segment of transcript.segments) {
    const speaker = found.get(segment.speaker) ?? { label: segment.speaker, seconds: 0, words: 0, share: 0 };
    speaker.seconds += Math.max(0, segment.end - segment.start);
    found.set(segment.speaker, speaker);
  }
  for (const sentence of sentences) found.get(sentence.speaker)!.words += sentence.words;
  const total = [...found.values()].reduce((sum, { seconds }) => sum + seconds, 0) || 1;
  for (const speaker of found.values()) speaker.share = speaker.seconds / total;
  return [...found.values()].filter((speaker) => speaker.words > 0);
}
