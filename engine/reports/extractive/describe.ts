import type { AiLayer } from '../report.ts';
import { namesOf } from './names.ts';
import { clip, points } from './sections.ts';
import type { Talk } from './talk.ts';
import { topicsOf } from './topics.ts';

const TITLE = 80; // characters
const SUMMARY_SENTENCES = 5;

/** Title and topics from the commonest phrases, a summary from the most central sentences. */
export function describe(talk: Talk): AiLayer {
  const topics = topicsOf(talk, talk.sentences, 6);
  const sentences = points(talk, SUMMARY_SENTENCES);
  return {
    title: titleOf(topics, sentences[0]?.text ?? ''),
    summary: sentences.map((sentence) => clip(sentence.text)).join(' '),
    topics,
    speakerNames: namesOf(talk),
  };
}

function titleOf(topics: string[], sentence: string): string {
  if (topics.length < 2) return clip(sentence, TITLE).replace(/[.,;:]+$/, '');
  const [first, ...others] = topics;
  let title = first!;
  for (const topic of others.slice(0, 2)) if (title.length + topic.length + 2 <= TITLE) title += `, ${topic}`;
  return title;
}
