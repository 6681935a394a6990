import { copyFileSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { excerpt } from '../support/engine/engine.ts';
import { addTiny, shareFitted, TINY } from '../support/engine/models.ts';
import { noDisks, smallDisk } from '../support/processes/disk.ts';
import { finish, LONGHAND, longhand, ROOT } from '../support/processes/processes.ts';

const folder = t.testdir({ 'broken.mp3': 'no recording at all '.repeat(100), out: {}, '.env': 'LOG_LEVEL=warn\n' });
const env = { LONGHAND_HOME: path.join(folder, 'home') };
shareFitted(env.LONGHAND_HOME);
await addTiny(env.LONGHAND_HOME);
const one = { ...env, LONGHAND_THREADS: '1' }; // each thread loads every model
const quick = { ...one, LONGHAND_MODEL: TINY }; // where words do not matter
const talk = path.join(ROOT, 'bench', 'data', 'two-speakers.wav');
const copy = path.join(folder, 'talk.wav');
writeFileSync(copy, await excerpt(5));
const german = path.join(ROOT, 'bench', 'data', 'clips', 'de_fleurs-test_000.ogg');

t.test('transcribe prints speakers and text, file by file in order, and continues after a file that fails', async (t) => {
  const broken = path.join(folder, 'broken.mp3');
  const { code, stdout, stderr } = await longhand(['transcribe', talk, broken, german], one);
  t.equal(code, 1);
  t.match(stderr, new RegExp(`^${broken}: Cannot `, 'm'));
  const [first, second] = stdout.split(/^==> .* <==\n/m).slice(1);
  t.equal(first!.trim().split('\n').length, 4);
  t.match(first, /^\[00:00\] Speaker 1: I really liked? .*\n\[00:05\] Speaker 2: /);
  t.match(second, /^\[00:0\d\] Speaker 1: .*\b(der|die|das|und)\b/, 'German is transcribed in German');
});

t.test('transcribe --format json has the fields of the API, and word timestamps with --words', async (t) => {
  const { code, stdout } = await longhand(['transcribe', talk, '--json', '--words', '--speakers', '2', '--language', 'EN'], quick);
  t.equal(code, 0);
  const record = JSON.parse(stdout);
  t.match(record, { title: 'two-speakers.wav', language: 'en', media_type: 'audio', speakers: [{ id: 'speaker_1' }, { id: 'speaker_2' }] });
  t.equal(record.duration_seconds, 20.015);
  for (const { start, end, words } of record.segments) {
    t.ok(words.length);
    t.ok(words.every((word: { start: number; end: number }) => word.start >= start && word.end <= end && word.start <= word.end));
  }
});

t.test('transcribe --output-dir writes subtitles and Markdown', async (t) => {
  const srt = await longhand(['transcribe', copy, '--no-diarize', '--format', 'srt', '--output-dir', path.join(folder, 'out')], quick);
  t.equal(srt.stdout, `${path.join(folder, 'out', 'talk.srt')}\n`);
  t.match(readFileSync(path.join(folder, 'out', 'talk.srt'), 'utf8'), /^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n/);
  const md = await longhand(['transcribe', copy, '--no-diarize', '--format', 'md', '--output-dir'], quick);
  t.equal(md.stdout, `${path.join(folder, 'talk.md')}\n`, 'without a folder: beside the recording');
  t.match(readFileSync(path.join(folder, 'talk.md'), 'utf8'), /^\ufeff---\ntitle: "talk.wav"\n/);
});

t.test(
  'transcribe --output-dir leaves an older transcript intact when the disk is full, and continues',
  { skip: noDisks() ?? false },
  async (t) => {
    const disk = smallDisk(t, 100_000);
    const out = path.join(disk.path, 'talk.json');
    const other = path.join(folder, 'other.wav');
    copyFileSync(copy, other);
    writeFileSync(out, 'older');
    disk.fill(0);
    const { code, stdout, stderr } = await longhand(
      ['transcribe', copy, other, '--json', '--no-diarize', '--output-dir', disk.path],
      quick,
    );
    t.equal(code, 1);
    t.equal(stdout, '');
    t.match(stderr, new RegExp(`^${copy}: Cannot write ${out}: the disk is full\n${other}: Cannot write .*: the disk is full\n$`));
    t.equal(readFileSync(out, 'utf8'), 'older');
    t.strictSame(readdirSync(disk.path).sort(), ['filler', 'talk.json']);
  },
);

t.test('transcribe reports which disk is full if there is no space for decoded audio', { skip: noDisks() ?? false }, async (t) => {
  const disk = smallDisk(t, 200_000);
  const { code, stderr } = await longhand(['transcribe', talk, '--no-diarize'], { ...quick, TMPDIR: disk.path });
  t.equal(code, 1);
  t.match(stderr, `${talk}: Cannot store decoded audio in ${disk.path}: the disk is full. An hour takes 115 MB per channel`);
});

t.test('longhand works through a symbolic link and from any folder, and doctor reports no problem', async (t) => {
  symlinkSync(LONGHAND, path.join(folder, 'link'));
  const { code, stdout } = await finish(path.join(folder, 'link'), ['doctor', '--json'], quick, folder);
  const { ok, checks, settings } = JSON.parse(stdout);
  const ours = checks.filter(({ name }: { name: string }) => !['memory', 'spool'].includes(name)); // those depend on the machine
  t.ok(ours.length >= 5);
  for (const check of ours) t.ok(check.ok, `${check.name}: ${check.found}`);
  t.equal(code, ok ? 0 : 1);
  t.match(settings, [{ setting: 'LONGHAND_HOME', value: env.LONGHAND_HOME, from: 'environment' }]);
  t.match(
    settings.find(({ setting }: { setting: string }) => setting === 'LOG_LEVEL'),
    { value: 'warn', from: path.join(folder, '.env') },
  );
});

t.test('longhand works from the checkout with CDPATH, which makes `cd` print and search', async (t) => {
  const { code, stdout, stderr } = await finish('scripts/longhand', ['--version'], { CDPATH: `.:${folder}` });
  t.match([code, stdout, stderr], [0, /^\d+\.\d+/, '']);
});

t.test('models verify reads every byte of the shipped models', async (t) => {
  const { code, stdout } = await longhand(['models', 'verify', '--json'], { LONGHAND_HOME: path.join(folder, 'another') });
  t.equal(code, 0);
  t.strictSame(JSON.parse(stdout), [
    { name: 'whisper-base', whole: true, findings: [] },
    { name: 'diarization', whole: true, findings: [] },
  ]);
});
