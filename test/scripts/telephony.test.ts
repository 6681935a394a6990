/* The recipe of docs/telephony.md, followed word for word: its files, its command line, as systemd would run it, against the real API. */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { STATUSES } from '../../api/contract/transcription.ts';
import { testApi } from '../support/api/client.ts';
import { finish, ROOT, start } from '../support/processes/processes.ts';
import { findProgram } from '../support/processes/programs.ts';
import { SEED, seeded } from '../support/seeded.ts';

const QUIET_LOOKS = 3; // in a row: a connection may be accepted at the first and its request read at the second
const { random } = seeded();
const page = readFileSync(path.join(ROOT, 'docs/telephony.md'), 'utf8');

/** Content of a file given in the page. */
function file(name: string): string {
  const [, text] = new RegExp(`^\`\`\`ini file=${name}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page) ?? [];
  if (text === undefined) throw new Error(`docs/telephony.md has no file ${name}`);
  return text;
}

const unit = file('/etc/systemd/system/longhand-upload.service');
const timer = file('/etc/systemd/system/longhand-upload.timer');
const root = t.testdir({ var: { spool: { asterisk: { monitor: {} } }, lib: { 'longhand-upload': {} } } });
const monitor = path.join(root, 'var/spool/asterisk/monitor');
const sent = path.join(root, 'var/spool/asterisk/sent');
const api = await testApi(t);
const owner = await api.world.member(await api.world.workspace({ minutes: 1000 }), { role: 'owner' });
const { key } = await api.world.key(owner, ['read', 'uploads:write']);

/** The program and its arguments, with folders of this test instead of those of the system. */
function command(): [program: string, args: string[]] {
  const line = /^ExecStart=(.+)$/m.exec(unit)![1]!;
  const [program, ...args] = line.split(' ').map((word) => word.replace(/^\/opt\/longhand\//, ROOT).replace(/^\/var\//, `${root}/var/`));
  return [program!, args];
}

/** Variables of the page's environment file, with the values of this service. */
const env = Object.fromEntries(
  [...file('/etc/longhand-upload.env').matchAll(/^(\w+)=/gm)].map(([, name]) => [name!, name === 'LONGHAND_KEY' ? key : api.url]),
);

/** A call recording last modified two minutes ago. */
function record(name: string, seed: string): void {
  const wav = readFileSync(path.join(ROOT, 'bench/data/two-speakers.wav'));
  const target = path.join(monitor, name);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, Buffer.concat([wav, Buffer.from(seed)]));
  const ago = new Date(Date.now() - 120_000);
  utimesSync(target, ago, ago);
}

/** Number of accepted uploads, each of which is charged. */
const accepted = async () =>
  (await api.db.query<{ id: string }>('*', `select id from transcriptions where error_code is distinct from 'UPLOAD_INCOMPLETE'`)).length;

/** Waits until the service has finished with the uploads of clients that are gone. */
async function untilIdle(): Promise<void> {
  for (let quiet = 0; quiet < QUIET_LOOKS; ) {
    await sleep(50);
    await fetch(`${api.url}/healthz`); // bytes that arrived earlier have been read
    quiet = /^longhand_requests_in_flight 0$/m.test(await api.metrics()) ? quiet + 1 : 0;
  }
}

const analyze = findProgram('systemd-analyze');
t.test('telephony recipe: systemd accepts service and timer', { skip: !analyze && 'systemd-analyze is not installed' }, async (t) => {
  const folder = t.testdir({
    'longhand-upload.service': unit.replace('/opt/longhand/scripts/longhand', '/bin/true').replace('User=asterisk', 'User=root'),
    'longhand-upload.timer': timer,
  });
  for (const name of readdirSync(folder)) {
    const { stdout, stderr } = await finish(analyze!, ['verify', path.join(folder, name)]);
    t.notMatch(stdout + stderr, /longhand-upload\.\w+:\d+|Unknown/, stdout + stderr);
  }
});

t.test('telephony recipe: the key does not appear in the process list', async (t) => {
  t.notMatch(unit, /--key|lh_/);
  t.strictSame(Object.keys(env).sort(), ['LONGHAND_KEY', 'LONGHAND_URL']);
  t.match(unit, /^EnvironmentFile=\/etc\/longhand-upload\.env$/m);
  t.match(unit, /^User=\w+$/m);
});

t.test('telephony recipe: a call is uploaded once: not while it grows, not the next day, not under another name', async (t) => {
  const [program, args] = command();
  const run = () => finish(program, args, env);
  record('2026/call-1.wav', '1');
  writeFileSync(path.join(monitor, 'growing.wav'), 'RIFF'.repeat(1000));
  const later = new Date(Date.now() + 3_600_000); // in the future, so that the file counts as growing even on a slow machine
  utimesSync(path.join(monitor, 'growing.wav'), later, later);
  const first = await run();
  t.equal(first.code, 0, first.stderr);
  t.equal(await accepted(), 1);
  t.ok(existsSync(path.join(sent, '2026/call-1.wav')) && existsSync(path.join(monitor, 'growing.wav')));
  await api.db.query('*', 'delete from idempotency_keys'); // as a day later
  copyFileSync(path.join(sent, '2026/call-1.wav'), path.join(monitor, 'again.wav'));
  utimesSync(path.join(monitor, 'again.wav'), 1, 1);
  t.equal((await run()).code, 0);
  t.equal(await accepted(), 1, 'recognised by content');
  t.ok(existsSync(path.join(sent, 'again.wav')));
});

t.test('telephony recipe: an upload whose response was lost is found a day later, whatever became of it', async (t) => {
  const [program, args] = command();
  const ledger = args[args.indexOf('--ledger') + 1]!;
  for (const status of STATUSES) {
    const name = `${status}.wav`;
    record(name, status);
    t.equal((await finish(program, args, env)).code, 0);
    const before = await accepted();
    const lines = readFileSync(ledger, 'utf8').trimEnd().split('\n');
    writeFileSync(ledger, `${lines.slice(0, -1).join('\n')}\n`); // killed before it noted the response
    renameSync(path.join(sent, name), path.join(monitor, name));
    const digest = `sha256:${createHash('sha256')
      .update(readFileSync(path.join(monitor, name)))
      .digest('hex')}`;
    await api.db.query('*', 'update transcriptions set status = ? where external_id = ?', [status, digest]);
    await api.db.query('*', 'delete from idempotency_keys'); // as a day later
    const again = await finish(program, args, env);
    t.match(again.stdout, new RegExp(`${status}\\.wav  [0-9a-f-]{36}  ${status}\\n`), again.stderr);
    t.equal(await accepted(), before);
    t.ok(existsSync(path.join(sent, name)));
  }
});

t.test('telephony recipe: nothing is charged twice, at whatever time the upload is killed', async (t) => {
  t.comment(`SEED=${SEED} repeats the random moments`);
  const before = await accepted();
  const [program, args] = command();
  const names = ['a.wav', 'b.wav', 'c.wav'];
  for (const name of names) record(name, name);
  for (let round = 0; round < 4; round++) {
    const running = start(t, program, args, env);
    await sleep(300 + random() * 2500);
    await running.stop('SIGKILL');
    await untilIdle();
    await api.db.query('*', 'delete from idempotency_keys'); // as a day later
  }
  const last = await finish(program, args, env);
  t.equal(last.code, 0, last.stderr);
  t.equal((await accepted()) - before, names.length);
  for (const name of names) t.ok(existsSync(path.join(sent, name)), name);
});
