/**
 * Early refusals from the view of common HTTP clients: each uploads a file that is refused before its body is read, directly, behind nginx and
 * behind HAProxy with the shipped configurations, over a fast and a slow connection. Writes the table into docs/clients.md; with arguments, only
 * prints the rows whose names contain one of the words.
 *   node --import tsx scripts/systems/refusals/main.ts [WORD…]
 * Requires nginx, haproxy, curl, wget, go, a JDK, and $PYTHON (python3) with requests, httpx and aiohttp.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openLink } from './link.ts';
import { type Command, curl, nodeClient, pythonClient, run, wget } from './programs.ts';
import { openStack } from './stack.ts';

const MB = 1_000_000;
const SLOW = 2 * MB; // bytes per second: 16 MB take 8 s: longer than a server that closes immediately would wait, shorter than our 30 s
const ROOT = path.join(import.meta.dirname, '../../..');
const PYTHON = process.env.PYTHON ?? 'python3';

const folder = mkdtempSync(path.join(tmpdir(), 'longhand-refusals-'));
const file = path.join(folder, 'call.wav');
const large = path.join(folder, 'large.wav');
writeFileSync(file, Buffer.alloc(16 * MB));
writeFileSync(large, Buffer.alloc(24 * MB));
const wanted = process.argv.slice(2);
const clients = build().filter(([name]) => !wanted.length || wanted.some((word) => name.includes(word)));
const stack = await openStack(folder, 20 * MB);

const REFUSALS = [
  { code: 'unauthorized', status: 401, key: 'lh_wrong', file, query: '' },
  { code: 'insufficient_balance', status: 402, key: stack.poorKey, file, query: '' },
  { code: 'file_size_limit_exceeded', status: 413, key: stack.key, file: large, query: '' },
  { code: 'validation_error', status: 422, key: stack.key, file, query: '?language=tlh' },
];
const WAYS = Object.entries(stack.ports).flatMap(([way, port]) => [
  { way, line: 'fast', port },
  { way, line: 'slow', port },
]);

/** Clients that by design report the status 401 without its body: wget, and Java's HttpURLConnection when streaming. */
const HIDDEN = /^ *HTTP\/1\.1 401 |HttpRetryException: cannot retry due to server authentication/m;

let failed = 0;
try {
  const table = [
    `| client | ${WAYS.map(({ way, line }) => `${way}, ${line}`).join(' | ')} |`,
    `|---|${'---|'.repeat(WAYS.length)}`,
    ...(await rows()),
  ];
  if (!wanted.length) writeDocs(`\n${table.join('\n')}\n\n`);
  console.log(table.join('\n'));
} finally {
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);

function writeDocs(text: string): void {
  const table = path.join(folder, 'refusals-table');
  writeFileSync(table, text);
  execFileSync('sh', [path.join(ROOT, 'scripts/systems/into-docs.sh'), 'refusals', table, path.join(ROOT, 'docs/clients.md')]);
}

/** A row per client: the statuses whose JSON it received. */
async function rows(): Promise<string[]> {
  const lines: string[] = [];
  for (const [name, command] of clients) {
    const cells = WAYS.map(async ({ way, line, port }) => {
      const link = line === 'slow' ? await openLink(port, SLOW) : null;
      const seen = await Promise.all(
        REFUSALS.map(async ({ code, status, key, file, query }) => {
          const url = `http://127.0.0.1:${link?.port ?? port}/v1/transcriptions${query}`;
          const printed = await run(command(url, key, file));
          if (printed.includes(`"code":"${code}"`)) return String(status);
          if (status === 401 && HIDDEN.test(printed)) return '(401)';
          failed++;
          console.error(`${name}, ${way}, ${line}, ${status}: ${printed.slice(-600)}`);
          return `**not ${status}**`;
        }),
      );
      link?.close();
      return seen.join(' ');
    });
    lines.push(`| ${name} | ${(await Promise.all(cells)).join(' | ')} |`);
  }
  return lines;
}

/** The clients, compiled if necessary. */
function build(): [name: string, command: Command][] {
  execFileSync('javac', ['-d', folder, path.join(import.meta.dirname, 'Refused.java')]);
  execFileSync('go', ['build', '-o', path.join(folder, 'refused'), path.join(import.meta.dirname, 'refused.go')]);
  const java =
    (name: string): Command =>
    (...args) => ['java', '-Xshare:auto', '-XX:TieredStopAtLevel=1', '-cp', folder, 'Refused', name, ...args];
  return [
    ['Python http.client', pythonClient('http.client', PYTHON)],
    ['Python urllib', pythonClient('urllib', PYTHON)],
    ['Python requests', pythonClient('requests', PYTHON)],
    ['Python httpx', pythonClient('httpx', PYTHON)],
    ['Python httpx, async', pythonClient('httpx-async', PYTHON)],
    ['Python aiohttp', pythonClient('aiohttp', PYTHON)],
    ['Java HttpURLConnection', java('HttpURLConnection')],
    ['Java HttpURLConnection, streaming', java('HttpURLConnection-streaming')],
    ['Java HttpClient', java('HttpClient')],
    ['Java HttpClient, Expect', java('HttpClient-Expect')],
    ['wget', wget],
    ['curl', curl],
    ['Node fetch', nodeClient('fetch')],
    ['Node http', nodeClient('http')],
    ['Go net/http', (...args) => [path.join(folder, 'refused'), ...args]],
  ];
}
