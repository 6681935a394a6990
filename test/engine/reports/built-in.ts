import { talk } from '../../../bench/reports/talks.ts';
import { openWriter } from '../../../engine/reports/writer.ts';

export const never = new AbortController().signal;
export const writer = openWriter({});

/** Text of the built-in writer for a talk. */
export async function report(name: string, slug: string): Promise<string> {
  return (await writer.write({ slug, name: slug, prompt: null }, talk(name), never)).text;
}

/** Lines under one heading. */
export function section(text: string, heading: string): string {
  return text.split(/^\*\*(.+)\*\*$/m).reduce((found, part, at, parts) => (parts[at - 1] === heading && at % 2 === 0 ? part : found), '');
}
