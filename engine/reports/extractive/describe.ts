import type { AiLayer } from '../report.ts';
import { clip } from './lines.ts';
import { namesOf } from './names.ts';
import { points } from './points.ts';
import type { Talk } from './talk.ts';
import { capital, topicsOf } from './topics.ts';

const TITLE = 80; // characters
const NAMED = 3; // topics in a title
const SUMMARY_SENTENCES = 5;

/** A summary from the most central sentences. No title and no topics: frequent phrases are neither, and the file name says more. */
export function describe(talk: Talk): AiLayer {
  const sentences = points(talk, SUMMARY_SENTENCES);
  return {
    title: '',
    summary: sentences.map((sentence) => clip(sentence.text)).join(' '),
    topics: [],
    speakerNames: namesOf(talk),
  };
}

/** The most frequent topics, or the best sentence if there are none. */
export function titleOf(talk: Talk): string {
  return titled(talk, topicsOf(talk, talk.sentences, NAMED));
}

function titled(talk: Talk, topics: readonly string[]): string {
  const [first, ...others] = topics.slice(0, NAMED);
  if (first === undefined || others.length === 0) return clip(points(talk, 1)[0]?.text ?? '', TITLE).replace(/[.,;:]+$/, '');
  let title = capital(first);
  for (const topic of others) if (title.length + topic.length + 2 <= TITLE) title += `, ${topic}`;
  return title;
}
