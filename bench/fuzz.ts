/**
 * Schemathesis against the OpenAPI document that the API serves: no 5xx, no undocumented status, no answer that breaks its schema.
 * `node --import tsx bench/fuzz.ts [--examples 50] [--venv /tmp/longhand-schemathesis]`. Needs python3 and, the first time, PyPI.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Service, withService } from './service.ts';

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'response_headers_conformance',
];

const { values } = parseArgs({
  options: { examples: { type: 'string', default: '50' }, venv: { type: 'string', default: join(tmpdir(), 'longhand-schemathesis') } },
});
const program = install(values.venv);
process.exitCode = await withService(async (service) => {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-fuzz-'));
  try {
    const config = join(folder, 'schemathesis.toml');
    writeFileSync(config, await settings(service));
    const base = `${service.url}/v1`;
    const options = ['--url', base, '--max-examples', values.examples, '--checks', CHECKS.join(','), '--no-color'];
    return run(program, ['--config-file', config, 'run', `${base}/openapi.json`, ...options], folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Ids that exist, so that requests get past the 404. */
async function settings({ url, key, memberId }: Service): Promise<string> {
  const answer = await fetch(`${url}/v1/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-disposition': 'attachment; filename="fuzz.mp3"' },
    body: Buffer.alloc(2048),
  });
  const { uuid } = (await answer.json()) as { uuid: string };
  return `[parameters]\n"path.id" = "${uuid}"\n"path.user_id" = "${memberId}"\n\n[auth.openapi.key]\nbearer = "${key}"\n`;
}

function install(venv: string): string {
  const found = join(venv, 'bin', 'st');
  if (existsSync(found)) return found;
  if (run('python3', ['-m', 'venv', venv]) || run(join(venv, 'bin', 'pip'), ['install', '--quiet', 'schemathesis']))
    throw new Error(`Cannot install schemathesis into ${venv}: python3 with venv, and PyPI, are needed`);
  return found;
}

function run(command: string, parameters: string[], cwd?: string): number {
  return spawnSync(command, parameters, { stdio: 'inherit', cwd }).status ?? 1;
}
