import { clock } from '../../../api/contract/text.ts';
import type { Sentence } from './sentences.ts';

const LONGEST = 400; // characters per line

/** `- [mm:ss] Speaker: sentence` */
export function line(sentence: Sentence): string {
  return `- [${clock(sentence.start)}] ${sentence.speaker}: ${clip(sentence.text)}`;
}

/** The sentence, truncated at a word if very long. */
export function clip(text: string, longest = LONGEST): string {
  if (text.length <= longest) return text;
  const cut = text.lastIndexOf(' ', longest - 1);
  return `${text.slice(0, cut > longest / 2 ? cut : longest - 1)}…`;
}
