import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { PAGE, pageWithTable, tableOf } from '../page-table.ts';
import type { Latency } from './api.ts';
import type { Bounced } from './bounced.ts';
import type { Claims } from './claims.ts';

/** Figures of one size; absent parts were not measured. */
export interface Row {
  transcriptions: number;
  fillSeconds: number;
  machine: string;
  /** Date, and number of processes that were ready to run, at the end. */
  date: string;
  load: number;
  /** Shares of one core, by minute. */
  idle?: number[];
  claims?: Claims[];
  lists?: Record<string, Latency>;
  deletion?: { rows: number; seconds: number; reads: Latency };
  bounced?: Bounced;
}

const SAVED = new URL('../results/scale.json', import.meta.url);

const count = (value: number) => value.toLocaleString('en');
const ms = ({ p50, p95, p99 }: Latency) => [p50, p95, p99].map((value) => value.toFixed(1)).join(' / ');
const percent = (shares: readonly number[]) => shares.map((share) => (100 * share).toFixed(1)).join(', ');

/** Names and values of everything measured at one size. */
function linesOf({ idle, claims = [], lists = {}, deletion, bounced }: Row): [name: string, value: string][] {
  return [
    ...(idle ? [['idle fleet of 50 APIs and 200 engines, % of one core, by minute', percent(idle)] as [string, string]] : []),
    ...claims.flatMap(({ queued, perSecond, latency }): [string, string][] => [
      [`claims per second with ${count(queued)} queued`, perSecond.toFixed(0)],
      [`claim with ${count(queued)} queued, ms`, ms(latency)],
    ]),
    ...Object.entries(lists).map(([name, latency]): [string, string] => [`list, ${name}, ms`, ms(latency)]),
    ...(deletion
      ? [
          [
            `list while a workspace is deleted, ms`,
            `${ms(deletion.reads)} (${count(deletion.rows)} rows, ${deletion.seconds.toFixed(0)} s)`,
          ] as [string, string],
        ]
      : []),
    ...(bounced
      ? ([
          ['PgBouncer: connections of the fleet, to the server', `${count(bounced.clients)}, ${bounced.servers}`],
          [`PgBouncer: errors of lists and claims at once`, `${bounced.errors.length} of ${count(bounced.lists + bounced.claims)}`],
        ] as [string, string][])
      : []),
  ];
}

/** Lines for people. */
export function textOf(results: readonly Row[]): string {
  return results
    .map((row) => {
      const lines = linesOf(row).map(([name, value]) => `  ${name.padEnd(64)} ${value}`);
      const errors = (row.bounced?.errors ?? []).slice(0, 10).map((error) => `  error: ${error}`);
      return `${[`${count(row.transcriptions)} transcriptions in 1,000 workspaces, made in ${row.fillSeconds.toFixed(0)} s`, ...lines, ...errors].join('\n')}\n`;
    })
    .join('');
}

/** docs/benchmarks.md with the table of these sizes. */
export function pageWith(rows: readonly Row[]): string {
  const columns = rows.map((row) => ({
    heading: `${count(row.transcriptions)} transcriptions`,
    lines: [...linesOf(row), ['machine', row.machine], ['date; load average at the end', `${row.date}; ${row.load.toFixed(1)}`]] as const,
  }));
  return pageWithTable('bench scale', tableOf('p50 / p95 / p99 of times', columns));
}

/** The sizes in bench/results/scale.json, smallest first. */
export function savedRows(): Row[] {
  return existsSync(SAVED) ? JSON.parse(readFileSync(SAVED, 'utf8')) : [];
}

/** Adds the sizes to bench/results/scale.json, and writes the table of all sizes into docs/benchmarks.md. */
export function writeDocs(measured: readonly Row[]): void {
  const others = savedRows().filter((row) => !measured.some(({ transcriptions }) => transcriptions === row.transcriptions));
  const all = [...others, ...measured].toSorted((a, b) => a.transcriptions - b.transcriptions);
  writeFileSync(SAVED, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(PAGE, pageWith(all));
}
