import type { Cue } from './cues/cue.ts';
import type { Heading } from './headings/translation.ts';

/** One section of a built-in report; `kind` selects the function in `sections.ts` that fills it. */
export type Section =
  | {
      kind: 'points' | 'bySpeaker' | 'topics' | 'outline' | 'questions' | 'openQuestions' | 'quotes' | 'participants' | 'figures';
      heading: Heading;
    }
  /** `rest`: omits what the report has already shown, and the section if it is empty then. */
  | { kind: 'cues'; heading: Heading; cues: readonly Cue[]; replies?: boolean; rest?: boolean }
  | { kind: 'perSpeaker'; heading: Heading; parts: readonly { heading: Heading; cues: readonly Cue[] }[] }
  | { kind: 'checklist'; heading: Heading; parts: readonly { heading: Heading; cues: readonly Cue[] }[] }
  | { kind: 'text'; text: Heading };

export interface Layout {
  /** States at the top what kind of text this is. */
  note: Heading;
  sections: readonly Section[];
}

const points: Section = { kind: 'points', heading: 'mainPoints' };
const topics: Section = { kind: 'topics', heading: 'topics' };
const outline: Section = { kind: 'outline', heading: 'outline' };
const participants: Section = { kind: 'participants', heading: 'participants' };
const questions: Section = { kind: 'questions', heading: 'questions' };
const openQuestions: Section = { kind: 'openQuestions', heading: 'openQuestions' };
const quotes: Section = { kind: 'quotes', heading: 'quotes' };
const cues = (heading: Heading, ...wanted: Cue[]): Section => ({ kind: 'cues', heading, cues: wanted });
const part = (heading: Heading, ...wanted: Cue[]) => ({ heading, cues: wanted });
const tasks = cues('tasks', 'task');
const decisions = cues('decisions', 'decision');
const otherDates: Section = { kind: 'cues', heading: 'otherDates', cues: ['deadline'], rest: true };
const nextSteps = cues('nextSteps', 'nextStep', 'task');
const objections: Section = { kind: 'cues', heading: 'objections', cues: ['objection'], replies: true };
const extract = (...sections: Section[]): Layout => ({ note: 'extract', sections });

/** How each template of the catalogue is filled without a language model. A new slug needs a line here and one in the catalogue. */
export const LAYOUTS: Record<string, Layout> = {
  summary: extract(points, topics, decisions, nextSteps),
  'key-points': extract(points, { kind: 'bySpeaker', heading: 'bySpeaker' }),
  'topics-outline': extract(topics, outline),
  'questions-answers': extract(questions),
  quotes: extract(quotes),
  tasks: extract(tasks, otherDates),
  'meeting-minutes': extract(participants, topics, points, decisions, tasks, openQuestions, otherDates),
  decisions: extract(decisions),
  'one-on-one': extract(
    cues('wellbeing', 'wellbeing'),
    cues('feedback', 'feedback', 'positive'),
    cues('goals', 'goal'),
    cues('problems', 'problem'),
    tasks,
  ),
  standup: extract({
    kind: 'perSpeaker',
    heading: 'bySpeaker',
    parts: [part('done', 'done'), part('planned', 'task'), part('blockers', 'problem')],
  }),
  retrospective: extract(cues('wentWell', 'positive'), cues('wentBadly', 'problem'), cues('ideas', 'idea'), tasks, decisions),
  'sales-call-review': extract(
    participants,
    cues('needs', 'need'),
    objections,
    cues('budget', 'money'),
    cues('competition', 'competition'),
    questions,
    nextSteps,
  ),
  bant: extract(cues('budget', 'money'), cues('authority', 'authority'), cues('needs', 'need'), cues('timing', 'deadline')),
  objections: extract(objections),
  'next-steps': extract(nextSteps, otherDates),
  'follow-up-email': {
    note: 'needsModel',
    sections: [
      { kind: 'text', text: 'mailSubject' },
      { kind: 'text', text: 'mailOpening' },
      { kind: 'points', heading: 'discussed' },
      cues('agreed', 'decision'),
      nextSteps,
      { kind: 'text', text: 'mailClosing' },
    ],
  },
  'support-call-review': extract(
    participants,
    cues('problems', 'problem'),
    cues('solution', 'solution'),
    cues('wanted', 'remedy'),
    questions,
    nextSteps,
  ),
  'complaint-summary': extract(cues('complaint', 'problem'), cues('wanted', 'remedy'), cues('solution', 'solution', 'apology'), {
    kind: 'cues',
    heading: 'nextSteps',
    cues: ['nextStep', 'task'],
    rest: true,
  }),
  'call-quality-checklist': extract(
    {
      kind: 'checklist',
      heading: 'checklist',
      parts: [
        part('greeting', 'greeting'),
        part('introduction', 'introduction'),
        part('verify', 'verify'),
        part('apology', 'apology'),
        part('solved', 'solution'),
        part('nextSteps', 'nextStep'),
        part('anythingElse', 'anythingElse'),
        part('thanks', 'thanks'),
        part('farewell', 'farewell'),
      ],
    },
    participants,
  ),
  'interview-notes': extract(
    participants,
    questions,
    cues('experience', 'experience'),
    cues('motivation', 'motivation'),
    cues('salary', 'money'),
    nextSteps,
  ),
  'candidate-scorecard': {
    note: 'notRated',
    sections: [
      cues('experience', 'experience'),
      cues('motivation', 'motivation'),
      cues('goals', 'goal'),
      cues('concerns', 'problem', 'objection'),
      cues('salary', 'money'),
      points,
    ],
  },
  'lecture-notes': extract(
    topics,
    outline,
    cues('definitions', 'definition'),
    cues('important', 'important'),
    cues('examples', 'example'),
    questions,
  ),
  'show-notes': extract(points, topics, outline, quotes, participants),
  'article-draft': { note: 'needsModel', sections: [points, outline, quotes, { kind: 'figures', heading: 'figures' }] },
  'soap-note': {
    note: 'notClinical',
    sections: [cues('subjective', 'symptom'), cues('objective', 'finding'), cues('assessment', 'assessment'), cues('plan', 'treatment')],
  },
  'case-notes': extract(
    participants,
    cues('statements', 'claim'),
    { kind: 'figures', heading: 'figures' },
    decisions,
    openQuestions,
    nextSteps,
  ),
};
