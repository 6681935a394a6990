/*
 * Searches for leaks in what an attacker without the master key could read: a dump of every table, the files of
 * the state folder, and the logs at the most verbose level.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openDb } from '../../db/postgres/orm.ts';
import { SHIPPED_FOLDER } from '../../models/manifest.ts';
import { runningDatabase } from '../../scripts/commands/home.ts';
import { conversation } from '../support/engine/engine.ts';
import { shareFitted } from '../support/engine/models.ts';
import { freePort, LONGHAND, longhand, start } from '../support/processes/processes.ts';

const FILE_NAME = 'Quarterly-Zanzibar-Negotiation';
const SPEAKER = 'Zebulon Quartz';
const home = join(t.testdir(), 'home');
shareFitted(home);
const metricsPort = await freePort();
const up = start(t, LONGHAND, ['up', '--json'], {
  LONGHAND_HOME: home,
  PORT: '0',
  LOG_LEVEL: 'debug',
  LOG_FORMAT: 'json',
  LONGHAND_THREADS: '1',
  LONGHAND_METRICS: `127.0.0.1:${metricsPort}`,
});
const printed = JSON.parse((await up.said(/^\{.*\}$/m))[0]) as { url: string; key: string };
const headers = { authorization: `Bearer ${printed.key}` };
const db = await openDb({ url: runningDatabase(home)!, pool: 2, name: 'longhand-test' });
t.teardown(() => db.close());

/** Every row of every table, including those of the queue, as text; bytea values both in hexadecimal and decoded. */
async function dump(): Promise<string> {
  return db.acrossTenants(async (tx) => {
    await tx.rows('set local role none'); // the owner of all tables
    const tables = await tx.rows<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const parts: string[] = [];
    for (const { name } of tables) {
      for (const { line } of await tx.rows<{ line: string }>(`select x::text as line from ${name} x`)) {
        parts.push(`${name} ${line}`);
        for (const [, hex] of line.matchAll(/\\x((?:[0-9a-f]{2})+)/g)) parts.push(Buffer.from(hex!, 'hex').toString('latin1'));
      }
    }
    return parts.join('\n');
  });
}

/** Whether a file equals one of the shipped model: a model converted for this CPU includes its vocabulary. */
function shipped(path: string): boolean {
  const original = join(SHIPPED_FOLDER, 'whisper-base', basename(path));
  return path.includes('/models/') && existsSync(original) && readFileSync(original).equals(readFileSync(path));
}

/** Every file of the state folder except public ones and PostgreSQL's data, which `dump` reads; including its log. */
function files(): { path: string; text: string }[] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('/postgres/data'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !shipped(path))
    .flatMap((path) => {
      try {
        return [{ path, text: readFileSync(path, 'latin1') }];
      } catch {
        return []; // it has been deleted
      }
    });
}

const SPOKEN = ['account of himself', 'hugely pleased', 'my lady', 'shop boy', 'squire', 'knight'];

/** Secrets found in a text, also in UTF-16 and base64 if the encoded form is longer than 5 bytes, to exclude chance matches. */
function found(text: string, secrets: readonly string[]): string[] {
  const lower = text.toLowerCase();
  const forms = (secret: string) => [
    secret,
    Buffer.from(secret, 'utf16le').toString('latin1'),
    Buffer.from(secret).toString('base64').slice(0, -4),
  ];
  return secrets.filter((secret) => forms(secret).some((form) => form.length > 5 && lower.includes(form.toLowerCase())));
}

const secret = [...SPOKEN, FILE_NAME, printed.key, printed.key.slice(3, 30)];

async function ask(path: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
  await sleep(1); // lets the client notice connections that the service closed during a long search
  const answer = await fetch(printed.url + path, { ...init, headers: { ...headers, ...(init.headers as Record<string, string>) } });
  return (await answer.json()) as Record<string, unknown>;
}

/** Searches everything. Returns each finding with its place. The audio is searched for by a range of its samples. */
async function search(sound: Buffer): Promise<string[]> {
  const stretch = sound.subarray(60_000, 60_032).toString('latin1');
  const logs = { path: 'logs', text: up.output.stderr + up.output.stdout.replace(/^\{"url".*$/m, '') };
  const all = [{ path: 'database', text: await dump() }, logs, ...files()];
  return all.flatMap(({ path, text }) => [
    ...found(text, secret).map((what) => `${path}: ${what}`),
    ...(text.includes(stretch) ? [`${path}: the audio`] : []),
  ]);
}

/** Signs in to the console. Returns the cookie, which `search` must not find, and the CSRF token. */
async function signIn() {
  const json = { 'content-type': 'application/json' };
  const session = await fetch(`${printed.url}/v1/app/session`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ key: printed.key }),
  });
  const cookie = session.headers.getSetCookie()[0]!.split(';')[0]!;
  const { csrf } = (await session.json()) as { csrf: string };
  return {
    secret: cookie.split('=')[1]!,
    async ask(method: string, path: string, body?: object) {
      const answer = await fetch(`${printed.url}/v1/app${path}`, {
        method,
        headers: { ...json, cookie, 'x-csrf-token': csrf },
        body: JSON.stringify(body),
      });
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as Record<string, unknown>;
    },
  };
}

await t.test('leak search: unencrypted text is found', async (t) => {
  t.strictSame(found(`x ${Buffer.from(`aa${FILE_NAME}`).toString('latin1')}`, [FILE_NAME]), [FILE_NAME]);
  t.strictSame(found('he was Hugely Pleased', SPOKEN), ['hugely pleased']);
  t.ok((await dump()).includes('Default'), 'the dump contains the name of the workspace, which is not encrypted');
});

await t.test('leak search: no speech, name or upload is readable in tables, files or logs, at any time', async (t) => {
  const person = await signIn();
  const { workspace } = (await ask('/v1/workspace')) as { workspace: { id: string } };
  const [member] = (await db.query<{ id: string }>('*', `select id from members where workspace_id = ? and role = 'owner'`, [
    workspace.id,
  ]))!;
  const webhook = await person.ask('POST', '/webhooks', { url: 'https://webhooks.example.invalid/hook' });
  const link = await person.ask('POST', `/members/${member!.id}/link`, {});
  const made = await longhand(['admin', 'token', 'create', '--workspace', workspace.id, '--member', member!.id, '--json'], {
    DATABASE_URL: runningDatabase(home)!,
    LONGHAND_HOME: home,
  });
  const keys = [
    person.secret,
    webhook.secret,
    new URL(link.url as string, printed.url).href.split(/[=#/]/).at(-1),
    JSON.parse(made.stdout).access_token,
  ];
  for (const each of keys) t.match(each, /^[\w+/=-]{32,}$/, 'keys are long random strings');
  secret.push(...(keys as string[]), SPEAKER);
  const sound = await conversation(2);
  const body = new Uint8Array(sound);
  const { uuid } = await ask('/v1/transcriptions?reports=summary,quotes&ai_metadata=true', {
    method: 'POST',
    headers: { 'content-disposition': `attachment; filename="${FILE_NAME}.wav"`, 'x-external-id': 'deal/77' },
    body,
  });
  const record = () => ask(`/v1/transcriptions/${uuid}`);
  for (let status = 'queued'; status === 'queued'; await sleep(20)) status = (await record()).status as string;
  t.ok(readdirSync(join(home, 'spool')).length > 0, 'the encrypted recording is in the spool');
  t.strictSame(await search(sound), [], 'mid-work');
  let done = await record();
  for (const end = Date.now() + 600_000; Date.now() < end; done = await record()) {
    const reports = (done.prompt_results ?? []) as { status: string }[];
    if (done.status === 'completed' && reports.every(({ status }) => status === 'completed' || status === 'failed')) break;
    await sleep(300);
  }
  t.equal(done.status, 'completed');
  await person.ask('PATCH', `/transcriptions/${uuid}/speakers/speaker_1`, { name: SPEAKER });
  t.match(JSON.stringify(await record()), SPEAKER);
  t.ok(found(done.text as string, SPOKEN).length >= 3, 'the transcript is readable with the API key');
  await ask('/v1/transcriptions?limit=1&external_id=deal/77');
  await ask('/v1/nothing', { headers: { 'x-title': FILE_NAME } });
  await fetch(`${printed.url}/v1/transcriptions?api_key=${printed.key}`);
  secret.push(done.title as string, (done.summary as string).slice(0, 40));
  t.ok(
    (await dump()).split('\n').some((line) => line.startsWith('public.segments ') && line.includes(uuid as string)),
    'the dump contains the encrypted transcript',
  );
  const everything = await dump();
  for (const table of [
    'webhooks',
    'deliveries',
    'sessions',
    'sign_in_links',
    'oauth_tokens',
    'reports',
    'notifications',
    'api_keys',
    'data_keys',
  ])
    t.ok(everything.includes(`\npublic.${table} `), `rows of ${table} were searched`);
  t.match(everything, /^graphile_worker\._private_tasks /m, 'rows of the queue were searched');
  t.strictSame(await search(sound), [], 'afterwards');
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  t.strictSame(found(metrics, secret), [], 'metrics');
  t.match(up.output.stderr, uuid as string, 'the logs contain the id of the transcription');
});

await t.test('leak search: the master key is in one file, readable only by its owner', async (t) => {
  const key = readFileSync(join(home, 'master.key'), 'utf8').trim();
  t.strictSame(
    files()
      .filter(({ text }) => text.includes(key))
      .map(({ path }) => path),
    [join(home, 'master.key')],
  );
  t.notOk((await dump()).includes(Buffer.from(key, 'base64').toString('latin1')));
  t.notOk(up.output.stderr.includes(key));
});
