import { clock } from '../../../api/contract/text.ts';
import type { Cue } from './cues/cue.ts';
import { titleOf } from './describe.ts';
import { say } from './headings/index.ts';
import type { Section } from './layouts.ts';
import { clip, line } from './lines.ts';
import { chaptersOf } from './outline.ts';
import { points } from './points.ts';
import { answerTo, asked } from './questions.ts';
import { pick, strongest } from './select.ts';
import type { Sentence } from './sentences.ts';
import type { Talk } from './talk.ts';
import { capital, topicsOf } from './topics.ts';

const LIMIT = 25; // maximum lines per section
const LEAST_WORDS = 4; // minimum length of a sentence searched for cues
const ASKED: readonly Cue[] = ['task', 'nextStep', 'deadline', 'idea', 'wellbeing']; // cues that occur in questions as often as not

/**
 * The lines of one section, without its heading; empty if the recording has nothing for it, null if the section can be omitted. Listed
 * sentences are added to `shown`.
 */
export function linesOf(talk: Talk, section: Section, shown: Set<Sentence>): string[] | null {
  switch (section.kind) {
    case 'points':
      return points(talk).map(line);
    case 'bySpeaker':
      return talk.speakers.length < 2 ? [] : talk.speakers.flatMap(({ label }) => perSpeakerPoints(talk, label));
    case 'topics':
      return topicsOf(talk, talk.sentences, 8).map((topic) => `- ${capital(topic)}`);
    case 'outline':
      return outline(talk);
    case 'questions':
      return limited(talk, asked(talk)).lines((question) => [line(question), ...replies(talk, question, 'answer')]);
    case 'openQuestions':
      return limited(
        talk,
        asked(talk).filter((question) => answerTo(talk, question).length === 0),
      ).lines((question) => [line(question)]);
    case 'quotes':
      return quotes(talk).map((sentence) => `- “${clip(sentence.text)}” — ${sentence.speaker}, [${clock(sentence.start)}]`);
    case 'participants':
      return talk.speakers.map(
        ({ label, seconds, share }) => `- ${label}: ${say('share', talk.code, { time: clock(seconds), share: Math.round(share * 100) })}`,
      );
    case 'figures':
      return limited(
        talk,
        talk.sentences.filter((sentence) => /\d/.test(sentence.text) || found(talk, sentence, ['deadline', 'money'])),
      ).lines((sentence) => [line(sentence)]);
    case 'cues':
      return cued(talk, section, shown);
    case 'perSpeaker':
      return talk.speakers.flatMap(({ label }) => perSpeakerCues(talk, label, section.parts));
    case 'checklist':
      return section.parts.map((part) => {
        const evidence = talk.sentences.find((sentence) => found(talk, sentence, part.cues));
        return evidence === undefined
          ? `- ✗ ${say(part.heading, talk.code)}: ${say('notHeard', talk.code)}`
          : `- ✓ ${say(part.heading, talk.code)}: ${line(evidence).slice(2)}`;
      });
    case 'text':
      return [say(section.text, talk.code, { title: titleOf(talk) })];
  }
}

function found(talk: Talk, sentence: Sentence, cues: readonly Cue[]): boolean {
  return cues.some((cue) => talk.matches(cue, sentence));
}

function cued(talk: Talk, section: Section & { kind: 'cues' }, shown: Set<Sentence>): string[] | null {
  const all = matching(talk, section.cues);
  const left = section.rest ? all.filter((sentence) => !shown.has(sentence)) : all;
  if (left.length < all.length && left.length === 0) return null;
  for (const sentence of left) shown.add(sentence);
  return limited(talk, left).lines((sentence) => [line(sentence), ...(section.replies ? replies(talk, sentence, 'reply') : [])]);
}

function matching(talk: Talk, cues: readonly Cue[]): Sentence[] {
  const asksForWork = cues.includes('task') || cues.includes('nextStep'); // `can you confirm your address` is not a task
  const openToQuestions = ASKED.some((cue) => cues.includes(cue));
  return talk.sentences.filter(
    (sentence) =>
      sentence.words >= LEAST_WORDS &&
      (openToQuestions || !sentence.question) &&
      found(talk, sentence, cues) &&
      !(asksForWork && talk.matches('verify', sentence)),
  );
}

/** The best sentences, and a last line with the number of omitted ones. */
function limited(talk: Talk, sentences: readonly Sentence[]) {
  const kept = strongest(talk, sentences, LIMIT);
  const left = sentences.length - kept.length;
  return {
    lines: (print: (sentence: Sentence) => string[]) => [
      ...kept.flatMap(print),
      ...(left > 0 ? [`- ${say('more', talk.code, { n: left })}`] : []),
    ],
  };
}

function replies(talk: Talk, sentence: Sentence, label: 'answer' | 'reply'): string[] {
  const answer = answerTo(talk, sentence);
  if (answer.length === 0) return label === 'answer' ? [`  - ${say('noAnswer', talk.code)}`] : [];
  return [
    `  - ${say(label, talk.code)} [${clock(answer[0]!.start)}] ${answer[0]!.speaker}: ${clip(answer.map((part) => part.text).join(' '))}`,
  ];
}

function perSpeakerPoints(talk: Talk, label: string): string[] {
  const own = pick(
    talk,
    talk.sentences.filter((sentence) => sentence.speaker === label && !sentence.question),
    3,
  );
  return own.length === 0 ? [] : [`**${label}**`, ...own.map(line)];
}

function perSpeakerCues(
  talk: Talk,
  label: string,
  parts: readonly { heading: Parameters<typeof say>[0]; cues: readonly Cue[] }[],
): string[] {
  const used = new Set<Sentence>();
  const lines = parts.flatMap((part) => {
    const own = matching(talk, part.cues).filter((sentence) => sentence.speaker === label && !used.has(sentence));
    for (const sentence of own) used.add(sentence);
    return limited(talk, own).lines((sentence) => [`- ${say(part.heading, talk.code)} [${clock(sentence.start)}]: ${clip(sentence.text)}`]);
  });
  return lines.length === 0 ? [] : [`**${label}**`, ...lines];
}

function outline(talk: Talk): string[] {
  return chaptersOf(talk).map((chapter) => {
    const topics = topicsOf(talk, chapter, 3).join(', ');
    const best = strongest(talk, chapter, 1)[0]!;
    return `- [${clock(chapter[0]!.start)}] ${topics === '' ? '' : `${capital(topics)} — `}${best.speaker}: ${clip(best.text, 240)}`;
  });
}

function quotes(talk: Talk): Sentence[] {
  const fit = talk.sentences.filter((sentence) => !sentence.question && sentence.words >= 6 && sentence.words <= 40);
  const telling = fit.filter((sentence) => found(talk, sentence, ['opinion', 'important']));
  return pick(talk, telling.length >= 3 ? telling : fit.length > 0 ? fit : talk.sentences, 8);
}
