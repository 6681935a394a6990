import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { PAGE, pageWithTable, tableOf } from '../page-table.ts';
import type { Dumped } from './dump.ts';
import type { Measured } from './questions.ts';

/** Figures of one number of transcripts. */
export interface Row {
  /** Transcripts in the index. */
  indexed: number;
  words: { mean: number; longest: number };
  textBytes: number;
  /** Tables of the index with their indexes and TOAST. */
  tables: { table: string; bytes: number; rows: number }[];
  fillSeconds: number;
  /** Words whose number of matches was right. */
  checked: number;
  dump: Dumped;
  rounds: number;
  questions: Measured[];
  machine: string;
  /** Date, and load average after filling and at the end. */
  date: string;
  load: [number, number];
}

const SAVED = new URL('../results/search.json', import.meta.url);

const count = (value: number) => value.toLocaleString('en');
const megabytes = (bytes: number) => `${count(Math.round(bytes / 1e6))} MB`;
const indexBytes = ({ tables }: Row) => tables.reduce((sum, { bytes }) => sum + bytes, 0);

function linesOf(row: Row): [name: string, value: string][] {
  const { words, textBytes, tables, dump, questions } = row;
  const worst = questions.toSorted((a, b) => b.p95 - a.p95)[0]!;
  return [
    ['words per transcript: mean, longest', `${words.mean.toFixed(0)}, ${count(words.longest)}`],
    ['text, UTF-8', megabytes(textBytes)],
    ['index, share of the text', `${megabytes(indexBytes(row))}, ${((100 * indexBytes(row)) / textBytes).toFixed(1)} %`],
    ...tables.filter(({ bytes }) => bytes > 1e5).map(({ table, bytes }): [string, string] => [`of it ${table}`, megabytes(bytes)]),
    ['words whose number of matches was compared, all right', count(row.checked)],
    ['words in a dump', `${dump.found.length} of ${count(dump.words)} in ${dump.tables} tables, ${megabytes(dump.bytes)}`],
    ['highest p95 of all searches, ms', `${worst.p95.toFixed(0)} (${worst.who}: ${worst.name})`],
    ...questions.map(({ name, who, found, p50, p95, most }): [string, string] => [
      `${who}: ${name}`,
      `${[p50, p95, most].map((ms) => ms.toFixed(0)).join(' / ')} (${count(found)})`,
    ]),
    ['machine', row.machine],
    ['date; load average after filling, at the end', `${row.date}; ${row.load.map((load) => load.toFixed(1)).join(', ')}`],
  ];
}

/** Lines for people. */
export function textOf(row: Row): string {
  const lines = linesOf(row).map(([name, value]) => `  ${name.padEnd(60)} ${value}\n`);
  return `${count(row.indexed)} transcripts indexed in one workspace in ${row.fillSeconds.toFixed(0)} s; p50 / p95 / max ms (mean matches)\n${lines.join('')}`;
}

/** The rows in bench/results/search.json, fewest transcripts first. */
export function savedRows(): Row[] {
  return existsSync(SAVED) ? JSON.parse(readFileSync(SAVED, 'utf8')) : [];
}

/** docs/benchmarks.md with the table of these rows. */
export function pageWith(rows: readonly Row[]): string {
  const columns = rows.map((row) => ({ heading: `${count(row.indexed)} transcripts`, lines: linesOf(row) }));
  return pageWithTable('bench search', tableOf('p50 / p95 / max of times in ms (mean matches)', columns));
}

/** Adds a row to bench/results/search.json, and writes the table of all rows into docs/benchmarks.md. */
export function save(row: Row): void {
  const rows = [...savedRows().filter(({ indexed }) => indexed !== row.indexed), row].toSorted((a, b) => a.indexed - b.indexed);
  writeFileSync(SAVED, `${JSON.stringify(rows, null, 2)}\n`);
  writeFileSync(PAGE, pageWith(rows));
}
