import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { testApi } from '../support/api/client.ts';
import { testDatabase } from '../support/databases/database.ts';
import { addTiny, TINY } from '../support/engine/models.ts';
import { longhandHere } from '../support/processes/here.ts';
import { finish, freePort, LONGHAND, longhand, ROOT } from '../support/processes/processes.ts';

const folder = t.testdir({ 'a.wav': 'a', 'bad.json': '{' });
const env = { LONGHAND_HOME: path.join(folder, 'home') };
const quick = { ...env, LONGHAND_MODEL: TINY, LONGHAND_THREADS: '1' }; // where models are opened
await addTiny(env.LONGHAND_HOME);
const file = path.join(folder, 'a.wav');
const nowhere = `postgres://127.0.0.1:${await freePort()}/longhand`;

t.test('longhand reports in plain language what is missing, and exits with 1', async (t) => {
  const missing = path.join(folder, 'missing.wav');
  const calls: [string[], RegExp, Record<string, string>?][] = [
    [['transcribe', missing], /Cannot use .*missing\.wav: no such file/, { LONGHAND_MODEL: 'absent' }], // before a model is looked for
    [
      ['transcribe', file, path.join(folder, 'a.mp3'), '--output-dir', folder],
      /Cannot write the transcripts of .*a\.wav and .*a\.mp3 to one file/,
    ],
    [['transcribe', file, '--output-dir', path.join(folder, 'bad.json')], /^Cannot use .*bad\.json: it exists already\n$/],
    [['upload', missing, '--key', 'k'], /Cannot use .*missing\.wav: no such file/],
    [['admin', 'template', 'preview', missing, '--slug', 'tasks'], /Cannot use .*missing\.wav: no such file/],
    [['admin', 'template', 'preview', path.join(folder, 'bad.json'), '--slug', 'tasks'], /bad\.json is not JSON with segments/],
    [['migrate'], /Cannot open the database: .*Start it, or correct DATABASE_URL/, { DATABASE_URL: nowhere }],
    [['models', 'import', 'whisper-base', '--languages', 'ru'], /with --languages: it is for CTC and transducer models; those of Whisper/],
    [['models', 'import', 'whisper-base', '--decoder', 'ctc'], /with --decoder: it is for hybrid \.nemo files/],
    [['models', 'import', 'whisper-typo'], /neither a folder or file here nor an installed model; "longhand models pull" downloads/],
  ];
  for (const [args, words, more] of calls)
    t.match(await longhandHere(args, { ...env, ...more }), { code: 1, stdout: '', stderr: words }, args.join(' '));
});

t.test('longhand rejects invalid values before doing anything, states what is expected, and exits with 2', async (t) => {
  const calls: [string[], RegExp][] = [
    [['upload', file, '--key', 'k', '--url', 'localhost:8080'], /such as http:\/\/127\.0\.0\.1:8080/],
    [['upload', file, '--key', 'k', '--metadata', 'null'], /a JSON object/],
    [['upload', file, '--key', 'k', '--metadata', '[1]'], /a JSON object/],
    [['upload', file, '--key', 'k\r'], /^error: --key: It must .* printable ASCII characters/],
    [['upload', file, '--key', 'k', '--external-id', 'a\nb'], /'--external-id <id>' argument .* printable ASCII characters/s],
    [['upload', file, '--key', 'k', '--author', 'external:crm:Jürgen'], /'--author <author>' argument .* ASCII/],
    [['engine', '--concurrency', 'many'], /a whole number from 1/],
    [['up', '--port', 'http'], /a whole number from 0 to 65535/],
    [['api', '--port', '65536'], /a whole number from 0 to 65535/],
    [['admin', 'workspace', 'create', '--name', ' '], /must not be empty/],
    [['admin', 'workspace', 'create', '--name', 'A', '--concurrency', '1001'], /at most 1000/],
    [['admin', 'member', 'add', '--workspace', 'w', '--email', 'anna'], /such as anna@example\.com/],
    [['admin', 'key', 'create', '--workspace', 'w', '--member', 'm', '--expires', '2030-02-30'], /a time like 2027-01-31T12:00:00Z/],
    [['admin', 'key', 'create', '--workspace', 'w', '--member', 'm', '--expires', '2020-01-31T12:00:00Z'], /must be in the future/],
    [['bench', '--load', '200'], /such as 200h\/day/],
    [['models', 'list', '--load', '0h/day'], /such as 200h\/day/],
    [['bench', '--peer', 'siri'], /faster-whisper, whisper\.cpp/],
    [['bench', '--no-speed', '--load', '1h/day'], /--no-speed/],
  ];
  const [started] = calls;
  t.match(await longhand(started![0], env), { code: 2, stdout: '', stderr: started![1] }, 'as a separate process');
  for (const [args, words] of calls) t.match(await longhandHere(args, env), { code: 2, stdout: '', stderr: words }, args.join(' '));
});

const noFull = existsSync('/dev/full') ? false : 'this system has no /dev/full';
t.test('longhand reports that its output cannot be written, and exits with 1', { skip: noFull }, async (t) => {
  const { code, stderr } = await finish('/bin/sh', ['-c', `exec "${LONGHAND}" models list --json >/dev/full`], env);
  t.equal(stderr, 'Cannot write to standard output: the disk is full\n');
  t.equal(code, 1);
});

t.test('bench prints the table if it cannot save the figures, and exits with 1', { skip: noFull }, async (t) => {
  const { code, stdout, stderr } = await longhand(['bench', '--no-speed', '--save', '/dev/full'], quick);
  t.match([code, stdout, stderr], [1, /1 threads, cpu/, /^Cannot save to \/dev\/full: ENOSPC/m]);
});

t.test('longhand prints its version, and the required options of a command', async (t) => {
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  t.match(await longhand(['--version'], env), { code: 0, stdout: `${version}\n` });
  t.match(await longhandHere(['admin', 'key', 'create', '--help'], env), { code: 0, stdout: /--member <id> .*\(required\)/ });
});

t.test('models remove says so if the service uses the model', async (t) => {
  for (const [given, words] of [
    [
      { LONGHAND_MODEL: TINY },
      new RegExp(`^LONGHAND_MODEL names ${TINY}: the service cannot start without it; choose another model there`),
    ],
    [{ LONGHAND_MODELS: `de=${TINY}` }, new RegExp(`^LONGHAND_MODELS names ${TINY}: `)],
    [{}, /^$/],
  ] as const) {
    const home = { LONGHAND_HOME: t.testdir() };
    await addTiny(home.LONGHAND_HOME);
    t.match(await longhandHere(['models', 'remove', TINY], { ...home, ...given }), { code: 0, stderr: words });
  }
});

t.test('doctor continues if the database cannot be reached, and says what to do', async (t) => {
  const { code, stdout } = await longhand(['doctor', '--json'], { ...quick, DATABASE_URL: nowhere });
  const { ok, checks } = JSON.parse(stdout);
  t.strictSame([code, ok], [1, false]);
  const named = (name: string) => checks.find((check: { name: string }) => check.name === name);
  t.match(named('database'), { ok: false, remedy: /DATABASE_URL/ });
  t.ok(named('spool'), 'later checks are run too');
});

t.test('doctor prints no secret of any setting', async (t) => {
  const word = 'hidden-word-of-the-test';
  const secret = ['LONGHAND_MASTER_KEY', 'LLM_API_KEY', 'OIDC_CLIENT_SECRET', 'LONGHAND_METRICS_TOKEN', 'LONGHAND_KEY'];
  const given = {
    ...Object.fromEntries(secret.map((name) => [name, word])),
    DATABASE_URL: `${nowhere}?password=${word}`,
    SMTP_URL: `smtp://longhand:${word}@127.0.0.1`,
    MAIL_FROM: 'longhand@example.com',
    LLM_BASE_URL: `http://longhand:${word}@127.0.0.1/v1`,
    LONGHAND_MODEL: 'none', // no models are opened
  };
  for (const args of [['doctor'], ['doctor', '--json']]) {
    const { stdout, stderr } = await longhandHere(args, { ...env, ...given });
    t.notMatch(stdout + stderr, word);
    for (const name of Object.keys(given)) t.match(stdout, name);
  }
});

t.test('up and api refuse a port that another Longhand uses', async (t) => {
  const { url } = await testApi(t);
  const { port } = new URL(url);
  const message =
    /^Cannot listen on 127\.0\.0\.1 port \d+: it is in use\. Choose another with --port or PORT, or stop the program that uses it\.$/m;
  t.match(await longhand(['up'], { ...quick, PORT: port }), { code: 1, stdout: '', stderr: message });
  const { url: database } = await testDatabase(t);
  t.match(await longhand(['api', '--port', port], { ...env, DATABASE_URL: database }), { code: 1, stdout: '', stderr: message });
});

t.test('api reports an address that does not belong to this machine', async (t) => {
  const { url: database } = await testDatabase(t);
  const { code, stdout, stderr } = await longhand(['api', '--port', '0', '--host', '192.0.2.1'], { ...env, DATABASE_URL: database });
  t.match(
    [code, stdout, stderr],
    [1, '', /^Cannot listen on 192\.0\.2\.1 port 0: EADDRNOTAVAIL\. Choose an address of this machine with --host or HOST\.$/m],
  );
});

t.test('.env files with a byte-order mark and CRLF, as on Windows, are read; a folder of that name is ignored', async (t) => {
  const at = t.testdir({ file: { '.env': '\uFEFFLOG_FORMAT=pretty\r\nLOG_LEVEL="warn"\r\n' }, folder: { '.env': { bin: {} } } });
  const shown = async (place: string) => {
    const settingsOnly = { ...env, LONGHAND_MODEL: 'none' }; // no models are opened
    const { stdout } = await finish(LONGHAND, ['doctor', '--json'], settingsOnly, path.join(at, place));
    const { settings } = JSON.parse(stdout) as { settings: { setting: string; value: string }[] };
    return settings.filter(({ setting }) => setting.startsWith('LOG_')).map(({ value }) => value);
  };
  t.strictSame(await shown('file'), ['warn', 'pretty']);
  t.strictSame(await shown('folder'), ['info', '']);
});
