import { z } from 'zod';
import { ReportError } from './report.ts';

const Item = z.object({ text: z.string(), segment: z.number().int().catch(0), quote: z.string().catch('') });
const Speaker = z.object({
  speaker: z.string(),
  name: z.string(),
  kind: z.enum(['introduction', 'address']),
  segment: z.number().int(),
  evidence: z.string(),
});
const list = <T extends z.ZodType>(shape: T) =>
  z
    .array(z.unknown())
    .transform((items) => items.flatMap((item) => [shape.safeParse(item)].flatMap((read) => (read.success ? [read.data] : []))));

/** What a model answers. Reading is lenient where nothing is lost: a malformed list entry is left out. */
export const Report = z.object({
  sections: z.array(z.object({ heading: z.string().catch(''), style: z.enum(['list', 'text']).catch('list'), items: list(Item) })).min(1),
});
export type Report = z.infer<typeof Report>;

export const Notes = z.object({
  notes: list(z.object({ text: z.string().min(1), segment: z.number().int() })),
  speakers: list(Speaker).catch([]),
});
export type Notes = z.infer<typeof Notes>;

export const About = z.object({
  title: z.string().trim().min(1),
  summary: z.string().trim().min(1),
  topics: list(z.string()).catch([]),
  speakers: list(Speaker).catch([]),
});
export type About = z.infer<typeof About>;

export type NamedSpeaker = z.infer<typeof Speaker>;

/** A JSON schema for servers that constrain their output: every property required, none added, no nulls, so that all of them take it. */
export interface Shape<T> {
  name: string;
  read: z.ZodType<T>;
  schema: object;
}

const string = { type: 'string' };
const integer = { type: 'integer' };
const object = (properties: Record<string, object>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const array = (items: object) => ({ type: 'array', items });
const speakers = array(
  object({
    speaker: string,
    name: string,
    kind: { type: 'string', enum: ['introduction', 'address'] },
    segment: integer,
    evidence: string,
  }),
);

export const REPORT: Shape<Report> = {
  name: 'report',
  read: Report,
  schema: object({
    sections: array(
      object({
        heading: string,
        style: { type: 'string', enum: ['list', 'text'] },
        items: array(object({ text: string, segment: integer, quote: string })),
      }),
    ),
  }),
};
export const NOTES: Shape<Notes> = {
  name: 'notes',
  read: Notes,
  schema: object({ notes: array(object({ text: string, segment: integer })), speakers }),
};
export const ABOUT: Shape<About> = {
  name: 'about',
  read: About,
  schema: object({ title: string, summary: string, topics: array(string), speakers }),
};

const THINKING = [
  /<(think|thinking|thought|reasoning|reflection)>[\s\S]*?<\/\1>/gi,
  /\[THINK\][\s\S]*?\[\/THINK\]/g,
  /<\|channel\|>(?:analysis|commentary)[\s\S]*?(?=<\|channel\|>final|$)/g,
  /^[\s\S]*<\/(?:think|thinking|thought|reasoning|reflection)>/i, // the opening tag was part of the prompt
  /<(?:think|thinking|thought|reasoning|reflection)>[\s\S]*$/i, // cut off while thinking
  /<\|[^|>]*\|>(?:final)?/g,
];

/** The answer without what a reasoning model thought aloud. */
export function withoutThinking(text: string): string {
  return THINKING.reduce((rest, pattern) => rest.replace(pattern, ''), text).trim();
}

/** Reads a JSON answer, also inside a code fence or between other words. Throws LLM_INVALID_OUTPUT with what is wrong, but none of the words: errors are logged. */
export function parse<T>(text: string, shape: Shape<T>): T {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  if (from < 0 || to < from) throw invalid('it holds no complete JSON object');
  let value: unknown;
  try {
    value = JSON.parse(text.slice(from, to + 1));
  } catch {
    throw invalid('its JSON is malformed');
  }
  const read = shape.read.safeParse(value);
  if (!read.success)
    throw invalid(`its JSON has another shape (${read.error.issues[0]?.path.join('.')}: ${read.error.issues[0]?.message})`);
  return read.data;
}

function invalid(found: string): ReportError {
  return new ReportError('LLM_INVALID_OUTPUT', `Cannot use the model's answer: ${found}`);
}
