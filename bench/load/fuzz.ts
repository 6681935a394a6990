/**
 * Runs Schemathesis against the OpenAPI document of the API: no 5xx, no undocumented status, type or header, no response that violates its
 * schema, none missing: `scripts/longhand bench fuzz [--examples 200] [--seed 1] [--venv FOLDER]`. Requires python3 and, the first time,
 * PyPI. Prints the seed and the number of cases; exits with 1 if anything was found.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions } from '../numbers.ts';
import { scratchFolder } from '../scratch.ts';
import { writeCall } from './record.ts';
import { type Service, withService } from './service.ts';

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'response_headers_conformance',
];
const CALL_SECONDS = 60;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const PATIENCE_MS = 2_000; // for a response that takes a millisecond

const values = readOptions(
  {
    examples: { type: 'string', default: '200' }, // per operation
    seed: { type: 'string', default: '1' },
    venv: { type: 'string', default: join(tmpdir(), 'longhand-schemathesis') },
  },
  (values) => values,
);
const program = await install(values.venv);
process.exitCode = await withService(async (service) => {
  const folder = scratchFolder('fuzz');
  try {
    const config = join(folder, 'schemathesis.toml');
    writeFileSync(config, await settings(service));
    const hooks = (await readsAnyName(service.url)) ? {} : { SCHEMATHESIS_HOOKS: 'fuzz' };
    if (hooks.SCHEMATHESIS_HOOKS) {
      copyFileSync(new URL('fuzz.py', import.meta.url), join(folder, 'fuzz.py'));
      process.stdout.write(
        `The HTTP parser for Node ${process.versions.node} does not answer requests whose header names have characters other than letters, digits and hyphens, or whose values have control characters; hyphens replace them.\n`,
      );
    }
    const base = `${service.url}/v1`;
    const options = ['--url', base, '--max-examples', values.examples, '--seed', values.seed, '--checks', CHECKS.join(','), '--no-color'];
    return await run(program, ['--config-file', config, 'run', `${base}/openapi.json`, ...options], folder, hooks);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Valid ids for a part of the requests, so that they get past validation. Objects for deletion are separate from those for reading. */
async function settings(service: Service): Promise<string> {
  const { url, key, memberId } = service;
  const answer = await fetch(`${url}/v1/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-disposition': 'attachment; filename="fuzz.mp3"' },
    body: Buffer.alloc(2048),
  });
  const { uuid } = (await answer.json()) as { uuid: string };
  const [completed, doomed] = [await writeCall(service, CALL_SECONDS), await writeCall(service, CALL_SECONDS)];
  const known: Record<string, readonly string[]> = {
    kept: [uuid, completed],
    doomed: [doomed],
    members: [memberId],
    names: [
      'attachment; filename="call.mp3"',
      "attachment; filename*=UTF-8''%D0%B7%D0%B2%D0%BE%D0%BD%D0%BE%D0%BA.m4a",
      'x; filename=talk.wav',
    ],
    authors: ['email:bench@example.com', `user:${memberId}`],
    languages: ['auto', 'de', 'HAW'],
    templates: ['summary', 'tasks', 'quotes'],
  };
  const half = (dictionary: string) => `{ dictionary = "${dictionary}", probability = 0.5 }`;
  const often = (dictionary: string) => `{ dictionary = "${dictionary}", probability = 0.8 }`;
  return [
    ...Object.entries(known).map(([name, words]) => `[dictionaries.${name}]\nvalues = ${JSON.stringify(words)}`),
    '[parameters]',
    `"path.id" = ${half('kept')}`,
    `"path.user_id" = ${half('members')}`,
    `"header.Content-Disposition" = ${often('names')}`,
    `"header.X-Author" = ${often('authors')}`,
    `"query.language" = ${often('languages')}`,
    `"query.reports" = ${often('templates')}`,
    `"body.reports[*]" = ${often('templates')}`,
    `"body.author" = ${half('authors')}`,
    '[[operations]]',
    'include-name = "DELETE /transcriptions/{id}"',
    `parameters = { "path.id" = ${half('doomed')} }`,
    '[auth.openapi.key]',
    `bearer = "${key}"`,
  ].join('\n');
}

/** Whether requests with an underscore in a header name are answered: the parsers of Node 22 and newer accept it. */
async function readsAnyName(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  try {
    socket.write('GET /healthz HTTP/1.1\r\nHost: longhand\r\nX_Any: 1\r\n\r\n');
    return await once(socket, 'data', { signal: AbortSignal.timeout(PATIENCE_MS) }).then(
      () => true,
      () => false,
    );
  } finally {
    socket.destroy();
  }
}

async function install(venv: string): Promise<string> {
  const found = join(venv, 'bin', 'st');
  if (existsSync(found)) return found;
  if ((await run('python3', ['-m', 'venv', venv])) || (await run(join(venv, 'bin', 'pip'), ['install', '--quiet', 'schemathesis'])))
    throw new Error(`Cannot install schemathesis into ${venv}: requires python3 with venv, and PyPI`);
  return found;
}

/** Its exit code. A signal to this process stops the child first. */
async function run(command: string, parameters: string[], cwd?: string, environment = {}): Promise<number> {
  const child = spawn(command, parameters, { stdio: 'inherit', cwd, env: { ...process.env, ...environment } });
  const stop = () => child.kill('SIGKILL');
  for (const signal of SIGNALS) process.on(signal, stop); // it arrives twice, from the process group and from the parent
  process.once('exit', stop); // a signal while the service runs
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
