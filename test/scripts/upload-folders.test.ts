import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { findRecordings, moveTo } from '../../scripts/commands/recordings.ts';
import { longhandHere } from '../support/processes/here.ts';
import { finish, LONGHAND } from '../support/processes/processes.ts';
import { findProgram } from '../support/processes/programs.ts';
import { type Turn, uploadService } from '../support/servers/upload-server.ts';

/** Environment with a ledger for this test file. */
const longhand = (args: readonly string[], env: Record<string, string> = {}) =>
  longhandHere(args, { XDG_STATE_HOME: path.join(folder, 'state'), ...env });
const folder = t.testdir({ 'a.wav': 'a'.repeat(200_000), 'notes.txt': 'no recording', deep: { 'Größe (1).mp3': 'b'.repeat(3000) } });

t.test('upload --min-age skips recently changed files, and --done-dir receives uploaded files, also inside the folder', async (t) => {
  const { seen, url } = await uploadService(t, []);
  const spool = t.testdir({ 'old.wav': 'o'.repeat(5000), 'young.wav': 'y'.repeat(5000), deep: { 'old.wav': 'p'.repeat(5000) } });
  const ago = new Date(Date.now() - 90_000);
  for (const file of ['old.wav', 'deep/old.wav']) utimesSync(path.join(spool, file), ago, ago);
  const done = path.join(spool, 'done');
  const once = () => longhand(['upload', spool, '--min-age', '1m', '--done-dir', done], { LONGHAND_KEY: 'k', LONGHAND_URL: url });
  t.match(await once(), { code: 0 });
  t.strictSame(readdirSync(spool, { recursive: true }).sort(), [
    'deep',
    'done',
    'done/deep',
    'done/deep/old.wav',
    'done/old.wav',
    'young.wav',
  ]);
  t.match(await once(), { code: 0, stdout: '' }, 'nothing to upload is not a failure');
  t.equal(seen.length, 2);
  writeFileSync(path.join(spool, 'old.wav'), 'q'.repeat(5000));
  utimesSync(path.join(spool, 'old.wav'), ago, ago);
  await once();
  t.equal(seen.length, 3);
  t.ok(existsSync(path.join(done, 'old (2).wav')), 'both files are kept');
  for (const odd of ['1 day', '-1', 'm']) t.equal((await longhand(['upload', spool, '--key', 'k', '--min-age', odd])).code, 2, odd);
});

t.test('upload --done-dir leaves a file where it is that grew during the upload, and the next run uploads all of it', async (t) => {
  const spool = t.testdir({ 'call.wav': 'c'.repeat(5000) });
  const file = path.join(spool, 'call.wav');
  const grow: Turn = (request, response) => {
    appendFileSync(file, 'd'.repeat(5000));
    request.resume().once('end', () => response.writeHead(201).end(JSON.stringify({ uuid: 'id-1', status: 'queued', reports: [] })));
  };
  const { seen, url } = await uploadService(t, [grow]);
  const once = () => longhand(['upload', spool, '--done-dir', path.join(spool, 'done')], { LONGHAND_KEY: 'k', LONGHAND_URL: url });
  t.match(await once(), { code: 0, stderr: /call\.wav: changed since it was read, so it stays/ });
  t.strictSame(readdirSync(spool), ['call.wav']);
  t.match(await once(), { code: 0 });
  t.match(seen.at(-1), { bytes: 10_000 });
  t.strictSame(readdirSync(spool), ['done']);
});

t.test('upload follows symbolic links to recordings, but not to folders', async (t) => {
  const { seen, url } = await uploadService(t, []);
  const links = t.testdir({ 'nowhere.wav': t.fixture('symlink', 'gone.wav') });
  symlinkSync(path.join(folder, 'a.wav'), path.join(links, 'link.wav'));
  symlinkSync(folder, path.join(links, 'folder.wav'));
  const { code } = await longhand(['upload', links, '--url', url, '--key', 'k']);
  t.equal(code, 0);
  t.match(seen, [{ name: `attachment; filename*=UTF-8''link.wav`, bytes: 200_000 }]);
  t.equal(seen.length, 1);
});

t.test('findRecordings() skips unreadable folders inside the named one, and reports them', async (t) => {
  const spool = t.testdir({ 'a.wav': '', 'b.txt': '', deep: { 'b.wav': '' }, done: { 'c.wav': '' }, shut: {}, gone: {}, 'lost+found': {} });
  const codes: Record<string, string> = { shut: 'EACCES', 'lost+found': 'EACCES', gone: 'ENOENT' };
  const listed: string[] = [];
  const list = async (folder: string) => {
    listed.push(path.relative(spool, folder));
    const code = codes[path.basename(folder)];
    if (code) throw Object.assign(new Error(`${code}: ${folder}`), { code });
    return readdir(folder, { withFileTypes: true });
  };
  const skipped: string[] = [];
  const onUnreadable = (at: string) => void skipped.push(path.relative(spool, at));
  const found = await findRecordings([spool], { list, onUnreadable, doneDir: path.join(spool, 'done') });
  t.strictSame(
    found.map(({ name, listed }) => [name, listed]),
    [
      ['a.wav', true],
      [path.join('deep', 'b.wav'), true],
    ],
  );
  t.match(await findRecordings([path.join(spool, 'b.txt')]), [{ name: 'b.txt', listed: false }]);
  t.strictSame(skipped, ['shut']);
  t.notOk(listed.includes('done'), 'sent recordings are not looked through');
  await t.rejects(findRecordings([path.join(spool, 'shut')], { list }), { code: 'EACCES' }, 'the named folder itself');
});

const setpriv = process.getuid?.() === 0 ? findProgram('setpriv') : null;
const noOther = process.getuid?.() === 0 && !setpriv && 'needs setpriv, because root may read every folder';
t.test('upload sends the rest of a folder in which one is unreadable, and exits with 1', { skip: noOther }, async (t) => {
  const { seen, url } = await uploadService(t, []);
  const spool = mkdtempSync(path.join(tmpdir(), 'longhand-upload-')); // where another account may go
  t.teardown(() => rmSync(spool, { recursive: true }));
  mkdirSync(path.join(spool, 'shut'));
  for (const file of ['a.wav', 'shut/b.wav']) writeFileSync(path.join(spool, file), file.repeat(1000));
  chmodSync(path.join(spool, 'shut'), 0);
  t.teardown(() => chmodSync(path.join(spool, 'shut'), 0o700));
  const args = ['upload', spool, '--json', '--ledger', path.join(spool, 'state', 'ledger.jsonl')];
  const env = { LONGHAND_KEY: 'k', LONGHAND_URL: url };
  const call: [string, string[]] = setpriv ? [setpriv, ['--bounding-set=-all', '--inh-caps=-all', LONGHAND, ...args]] : [LONGHAND, args];
  const { code, stdout, stderr } = await finish(...call, env);
  t.equal(code, 1, stderr);
  t.match(JSON.parse(stdout), { file: path.join(spool, 'a.wav'), status: 'queued' });
  t.match(stderr, /^Skipped .*shut: permission denied for this account; let this account read it, or name the other folders$/m);
  t.equal(seen.length, 1);
});

t.test('moveTo() keeps every file, even if several of the same name are moved at once', async (t) => {
  const folders = Array.from({ length: 20 }, (_, index) => `from ${index}`);
  const spool = t.testdir(Object.fromEntries(folders.map((folder) => [folder, { 'call.wav': folder }])));
  const done = path.join(spool, 'done');
  await Promise.all(folders.map((folder) => moveTo(done, { file: path.join(spool, folder, 'call.wav'), name: 'call.wav', listed: false })));
  const kept = readdirSync(done).map((name) => readFileSync(path.join(done, name), 'utf8'));
  t.strictSame(kept.sort(), [...folders].sort());
  t.ok(existsSync(path.join(done, 'call (20).wav')));
  await t.rejects(moveTo(done, { file: path.join(spool, 'gone.wav'), name: 'gone.wav', listed: true }), { code: 'ENOENT' });
  t.notOk(existsSync(path.join(done, 'gone.wav')), 'no empty file is left');
});

const MEMORY = '/dev/shm'; // another file system than the temporary folder
const oneDisk = (!existsSync(MEMORY) || statSync(MEMORY).dev === statSync(tmpdir()).dev) && `needs ${MEMORY}`;
t.test('moveTo() gives a file on another disk its name when it is complete', { skip: oneDisk }, async (t) => {
  const size = 50_000_000;
  const done = mkdtempSync(path.join(MEMORY, 'longhand-done-'));
  t.teardown(() => rmSync(done, { recursive: true }));
  const file = path.join(t.testdir({ 'call.wav': '' }), 'call.wav');
  truncateSync(file, size);
  const sizes = new Set<number>();
  const look = () => void sizes.add(statSync(path.join(done, 'call.wav'), { throwIfNoEntry: false })?.size ?? 0);
  const looking = setInterval(look, 1);
  await moveTo(done, { file, name: 'call.wav', listed: true });
  clearInterval(looking);
  look();
  t.strictSame(
    [...sizes].filter((each) => each > 0),
    [size],
  );
  t.notOk(existsSync(file));
  t.strictSame(readdirSync(done), ['call.wav']);
});
