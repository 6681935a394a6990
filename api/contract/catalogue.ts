/** The built-in report templates: listed by the API, written by the engine. Names and categories are in English. */

interface BuiltinTemplate {
  slug: string;
  name: string;
  /** Returned as `description`. */
  category: string;
}

const row = (category: string) => (slug: string, name: string) => ({ slug, name, category }) as const;

const general = row('General');
const meetings = row('Meetings');
const sales = row('Sales');
const support = row('Support');
const hr = row('HR');
const education = row('Education');
const media = row('Media');
const records = row('Medical/Legal');

/** The 26 built-in templates, in the order of the list. */
export const CATALOGUE: readonly BuiltinTemplate[] = [
  general('summary', 'Summary'),
  general('key-points', 'Key points'),
  general('topics-outline', 'Topics outline'),
  general('questions-answers', 'Questions and answers'),
  general('quotes', 'Quotes'),
  meetings('tasks', 'Tasks'),
  meetings('meeting-minutes', 'Meeting minutes'),
  meetings('decisions', 'Decisions'),
  meetings('one-on-one', 'One-on-one'),
  meetings('standup', 'Stand-up'),
  meetings('retrospective', 'Retrospective'),
  sales('sales-call-review', 'Sales call review'),
  sales('bant', 'BANT qualification'),
  sales('objections', 'Objections'),
  sales('next-steps', 'Next steps'),
  sales('follow-up-email', 'Follow-up email'),
  support('support-call-review', 'Support call review'),
  support('complaint-summary', 'Complaint summary'),
  support('call-quality-checklist', 'Call quality checklist'),
  hr('interview-notes', 'Interview notes'),
  hr('candidate-scorecard', 'Candidate scorecard'),
  education('lecture-notes', 'Lecture notes'),
  media('show-notes', 'Show notes'),
  media('article-draft', 'Article draft'),
  records('soap-note', 'SOAP note'),
  records('case-notes', 'Case notes'),
];

const bySlug = new Map(CATALOGUE.map((template) => [template.slug, template]));

/** The built-in template with this slug, or undefined. */
export function builtin(slug: string): BuiltinTemplate | undefined {
  return bySlug.get(slug);
}
