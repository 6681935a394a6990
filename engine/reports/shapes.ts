import { z } from 'zod';
import { ReportError } from './report.ts';

/** A list; malformed entries are dropped. */
const list = <T extends z.ZodType>(entry: T) =>
  z.preprocess((value) => (Array.isArray(value) ? value.filter((one) => entry.safeParse(one).success) : value), z.array(entry));

const Item = z.object({ text: z.string(), segment: z.int().catch(0), quote: z.string().catch('') });
const Speaker = z.object({
  speaker: z.string(),
  name: z.string(),
  kind: z.enum(['introduction', 'address']),
  segment: z.int(),
  evidence: z.string(),
});
const Section = z.object({ heading: z.string().catch(''), style: z.enum(['list', 'text']).catch('list'), items: list(Item) });

/** Answers of a model. Parsing is lenient where nothing is lost. */
export const Report = z.object({ sections: z.array(Section).min(1) });
export type Report = z.infer<typeof Report>;

export const Notes = z.object({
  notes: list(z.object({ text: z.string().min(1), segment: z.int() })),
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

const NOT_EVERYWHERE = ['default', 'minItems', 'minLength', 'minimum', 'maximum'] as const; // keywords that some servers reject

export interface Shape<T> {
  name: string;
  read: z.ZodType<T>;
  /**
   * JSON Schema for servers with constrained output. Every property is required, no others are allowed, no nulls and no bounds, so that all
   * servers accept it.
   */
  schema: object;
}

export const REPORT: Shape<Report> = { name: 'report', read: Report, schema: schemaOf(Report) };
export const NOTES: Shape<Notes> = { name: 'notes', read: Notes, schema: schemaOf(Notes) };
export const ABOUT: Shape<About> = { name: 'about', read: About, schema: schemaOf(About) };

function schemaOf(shape: z.ZodType): object {
  const { $schema, ...schema } = z.toJSONSchema(shape, {
    override({ jsonSchema }) {
      for (const keyword of NOT_EVERYWHERE) delete jsonSchema[keyword];
    },
  });
  return schema;
}

const THINKING = [
  /<(think|thinking|thought|reasoning|reflection)>[\s\S]*?<\/\1>/gi,
  /\[THINK\][\s\S]*?\[\/THINK\]/g,
  /<\|channel\|>(?:analysis|commentary)[\s\S]*?(?=<\|channel\|>final|$)/g,
  /^[\s\S]*<\/(?:think|thinking|thought|reasoning|reflection)>/i, // the opening tag was part of the prompt
  /<(?:think|thinking|thought|reasoning|reflection)>[\s\S]*$/i, // truncated while reasoning
  /<\|[^|>]*\|>(?:final)?/g,
];

/** The answer without the output of a reasoning phase. */
export function withoutThinking(text: string): string {
  return THINKING.reduce((rest, pattern) => rest.replace(pattern, ''), text).trim();
}

/**
 * Parses a JSON answer, also within a code fence or other text. Throws LLM_INVALID_OUTPUT with the problem but none of the text, because
 * errors are logged.
 */
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
