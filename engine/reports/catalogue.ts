/** Instructions to the language model for each built-in template: the task and the sections of the result in order. */
export interface Instructions {
  task: string;
  /** Heading: what belongs under it. */
  sections: readonly string[];
}

const EVIDENCE = 'Give every item the segment it rests on.';

export const INSTRUCTIONS: Record<string, Instructions> = {
  summary: {
    task: 'Summarise the conversation for somebody who was not there and has one minute. Begin with the outcome, not with the greeting.',
    sections: [
      'Summary: two to five sentences of running text',
      'Main points: three to seven items',
      'Outcome: what was agreed or stays open',
    ],
  },
  'key-points': {
    task: `List what one has to know afterwards, most important first. One fact per item. ${EVIDENCE}`,
    sections: ['Key points: five to twelve items'],
  },
  'topics-outline': {
    task: `Outline the conversation in the order in which it went. ${EVIDENCE}`,
    sections: ['one section per topic, its heading naming the topic: one to four items that say what was said about it and by whom'],
  },
  'questions-answers': {
    task: `Collect the questions that were really asked, each with its answer and who gave it. Skip small talk. ${EVIDENCE}`,
    sections: [
      'Questions and answers: one item per question, the question first, then the answer',
      'Open questions: questions without an answer',
    ],
  },
  quotes: {
    task: 'Choose the passages worth quoting: telling, complete and understandable alone.',
    sections: ['Quotes: up to ten items, each with `quote` and a short `text` that gives the context'],
  },
  tasks: {
    task: `List every task that somebody took on or was given. Only what was really promised or asked for, no ideas. ${EVIDENCE}`,
    sections: ['Tasks: one item each: who, what, until when; say so where person or date was not named'],
  },
  'meeting-minutes': {
    task: `Write minutes of the meeting. ${EVIDENCE}`,
    sections: ['Participants', 'Topics: what was discussed, by topic', 'Decisions', 'Tasks: who, what, until when', 'Open points'],
  },
  decisions: {
    task: `List the decisions that were taken, with the reason and who took them. A proposal is no decision. ${EVIDENCE}`,
    sections: ['Decisions', 'Deferred: what was put off, and until when'],
  },
  'one-on-one': {
    task: `Write notes of a one-on-one between a manager and an employee. Stay factual and respectful. ${EVIDENCE}`,
    sections: ['How it is going', 'Feedback: in both directions', 'Goals and development', 'Obstacles', 'Agreed: who does what until when'],
  },
  standup: {
    task: `Sort a stand-up by person. ${EVIDENCE}`,
    sections: [
      'one section per person, headed with the name: items for done, planned and blocked, each beginning with that word',
      'Needs help: blockers that nobody has taken on',
    ],
  },
  retrospective: {
    task: `Sort a retrospective. Keep the team's own words where they are short. ${EVIDENCE}`,
    sections: ['Went well', 'Went badly', 'Ideas', 'Agreed changes: who does what'],
  },
  'sales-call-review': {
    task: `Review a sales call for the seller's manager: what the customer wants, how the seller did, what comes next. Judge only what can be shown in the call. ${EVIDENCE}`,
    sections: [
      'Customer and situation',
      'Needs',
      'Objections and how they were met',
      'Price and budget',
      'Competitors and present tools',
      'What went well',
      'What to do better',
      'Next steps: who, what, until when',
    ],
  },
  bant: {
    task: `Qualify the deal by BANT from what the customer said. Write "not mentioned" where nothing was said; never infer. ${EVIDENCE}`,
    sections: ['Budget', 'Authority', 'Need', 'Timing', 'Assessment: one sentence, and what to ask next'],
  },
  objections: {
    task: `List each objection or doubt of the customer, the answer it got, and whether it was settled. ${EVIDENCE}`,
    sections: ['Objections: objection, answer, settled or open'],
  },
  'next-steps': {
    task: `List what happens after this conversation. ${EVIDENCE}`,
    sections: ['Next steps: who, what, until when', 'Next appointment'],
  },
  'follow-up-email': {
    task: 'Write the e-mail that the host of this call sends to the other side today: thanks, what was discussed and agreed, next steps with names and dates. Friendly, short, ready to send. Invent no names or addresses; no placeholders but for the signature.',
    sections: ['Subject', 'Message: running text in short paragraphs'],
  },
  'support-call-review': {
    task: `Review a support call: problem, what was tried, outcome, how the customer was treated. ${EVIDENCE}`,
    sections: [
      'Problem',
      'Steps taken',
      'Outcome',
      'Customer mood: at the beginning and at the end',
      'Promised to the customer',
      'What to do better',
    ],
  },
  'complaint-summary': {
    task: `Summarise a complaint so that a colleague can take it over. ${EVIDENCE}`,
    sections: [
      'Complaint: what happened, when, to what',
      'Consequences for the customer',
      'What the customer wants',
      'What was offered or done',
      'Open',
    ],
  },
  'call-quality-checklist': {
    task: `Fill in a checklist of call quality. One item per criterion: "✓" (yes), "✗" (no, or not heard) or "~" (partly), the criterion, a colon, then the evidence. ${EVIDENCE}`,
    sections: [
      'Checklist: greeting; introduction by name; customer or case identified; reason for the call understood; empathy; correct and clear information; solution or next step offered; asked for further questions; thanks and farewell',
      'Remarks',
    ],
  },
  'interview-notes': {
    task: `Write notes of a job interview. Only what bears on the job; leave out family, health, origin, religion and age. ${EVIDENCE}`,
    sections: ['Background', 'Experience and skills', 'Motivation', 'Salary and availability', 'Questions of the candidate', 'Next steps'],
  },
  'candidate-scorecard': {
    task: `Fill in a scorecard. One item per criterion: "strong", "fair", "weak" or "not shown" in the language of the report, then the evidence. Judge only what was said, never manner of speaking, origin, age, health or family. ${EVIDENCE}`,
    sections: [
      'Scorecard: professional knowledge; relevant experience; problem solving; communication of content; motivation for the role; working with others',
      'Points to verify',
    ],
  },
  'lecture-notes': {
    task: `Write lecture notes to learn from. ${EVIDENCE}`,
    sections: [
      'Topic: one sentence',
      'Notes: by topic, in order',
      'Terms: each with its definition as given',
      'Examples',
      'Likely exam questions',
    ],
  },
  'show-notes': {
    task: `Write show notes for a podcast or broadcast. ${EVIDENCE}`,
    sections: [
      'Description: two or three inviting sentences',
      'Chapters: one item each, a short title, with the segment where it begins',
      'People and works mentioned',
      'Quotes: two or three, with `quote`',
    ],
  },
  'article-draft': {
    task: 'Draft an article of 300 to 700 words from this recording: headline, lead, body, end. Running text. Attribute every opinion. Use at most five quotations, each in `quote`.',
    sections: ['Headline', 'Lead', 'Body: several paragraphs, one item each', 'End'],
  },
  'soap-note': {
    task: `Sort a consultation into a SOAP note for a clinician to check. Record only what was said or measured; add no diagnosis, dose or advice of your own. ${EVIDENCE}`,
    sections: [
      'Subjective: complaints and history',
      'Objective: findings and measurements',
      'Assessment: as spoken by the clinician',
      'Plan: as spoken by the clinician',
    ],
  },
  'case-notes': {
    task: `Write case notes for a lawyer or case worker. Separate what a person claims from what is agreed or documented. No legal advice. ${EVIDENCE}`,
    sections: [
      'People',
      'Facts claimed: who claims what',
      'Dates and amounts',
      'Documents mentioned',
      'Agreed',
      'Open questions and next steps',
    ],
  },
};
