import { readFileSync } from 'node:fs';

/** docs/benchmarks.md, where `bench/` programs write their tables. */
export const PAGE = new URL('../docs/benchmarks.md', import.meta.url);

/** Figures of one size: the heading of their column, and names with values. */
export interface Column {
  heading: string;
  lines: readonly (readonly [name: string, value: string])[];
}

/** Markdown table with a column per size; `corner` heads the names. */
export function tableOf(corner: string, columns: readonly Column[]): string {
  const names = [...new Set(columns.flatMap(({ lines }) => lines.map(([name]) => name)))];
  const values = columns.map(({ lines }) => new Map(lines));
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line([corner, ...columns.map(({ heading }) => heading)]),
    line(['---', ...columns.map(() => '---')]),
    ...names.map((name) => line([name, ...values.map((value) => value.get(name) ?? '')])),
  ].join('\n');
}

/** The page with the table between the comments `begin: NAME` and `end: NAME`. */
export function pageWithTable(name: string, table: string): string {
  const [begin, end] = [`<!-- begin: ${name} -->`, `<!-- end: ${name} -->`];
  const text = readFileSync(PAGE, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`Cannot write docs/benchmarks.md: it lacks the comments ${begin} and ${end}`);
  return `${text.slice(0, from + begin.length)}\n${table}\n${text.slice(to)}`;
}
