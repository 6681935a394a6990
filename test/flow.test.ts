import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { ListItem, Transcription } from '../api/contract/transcription.ts';
import { finish, freePort, LONGHAND, ROOT, start } from './support/processes/processes.ts';

const REFERENCE = [
  'i really liked that account of himself better than anything else he said',
  'but i am hugely pleased that you have seen my lady',
  'his statement of having been a shop boy was the thing i liked best of all',
  'well the best on it is that i have a squire now that is as good as a knight',
];
const FEW_ERRORS = 0.15; // share of the words
const DONE_MS = 600_000;

const folder = t.testdir({ media: {} });
const home = path.join(folder, 'home');
const env = { LONGHAND_HOME: home, PORT: '0', LOG_LEVEL: 'warn', LONGHAND_THREADS: '1' };
/** For the first start, which does all the work: it loads the shipped sources, and its killed API can listen again at once only on a chosen port. */
const first = { ...env, NODE_OPTIONS: '', PORT: String(await freePort()) };

/** Key and curl commands that `longhand up` prints on the first start. */
function read(output: string) {
  const [upload, result] = [...output.matchAll(/^ +(curl .*)$/gm)].map((match) => match[1]!);
  return { key: /\blh_[0-9A-Za-z]+/.exec(output)?.[0] ?? '', upload, result };
}

async function shell(line: string): Promise<string> {
  const { code, stdout, stderr } = await finish('sh', ['-c', line]);
  if (code !== 0) throw new Error(`${line}\n${stderr}`);
  return stdout;
}

async function ffmpeg(name: string, ...args: string[]): Promise<Buffer> {
  const file = path.join(folder, 'media', name);
  const { code, stderr } = await finish('ffmpeg', ['-v', 'error', '-y', ...args, file]);
  if (code !== 0) throw new Error(stderr);
  return readFileSync(file);
}

/** Polls until `get` returns a value. */
async function eventually<T>(get: () => Promise<T | null | undefined | false>): Promise<T> {
  for (const end = Date.now() + DONE_MS; Date.now() < end; await sleep(300)) {
    const found = await get();
    if (found) return found;
  }
  throw new Error(`Timed out after ${DONE_MS / 1000} s`);
}

/** Share of the words of `reference` that are missing from `hypothesis`, in order: word error rate without insertions. */
function missing(reference: string, hypothesis: string): number {
  const [a, b] = [reference, hypothesis].map((text) =>
    text
      .toLowerCase()
      .replace(/[^a-z ]/g, '')
      .replace('shopboy', 'shop boy')
      .split(/ +/),
  );
  let row = new Array<number>(b!.length + 1).fill(0);
  for (const word of a!) {
    const next = [0];
    for (let j = 1; j <= b!.length; j++) next.push(word === b![j - 1] ? row[j - 1]! + 1 : Math.max(row[j]!, next[j - 1]!));
    row = next;
  }
  return 1 - row.at(-1)! / a!.length;
}

const up = start(t, LONGHAND, ['up'], first);
const base = (await up.said(/^listening on (http:\S+)$/m))[1]!;
const printed = read(up.output.stdout);
const authorization = { Authorization: `Bearer ${printed.key}` };

async function record(id: string): Promise<Transcription> {
  return (await fetch(`${base}/v1/transcriptions/${id}`, { headers: authorization })).json() as Promise<Transcription>;
}

/** Uploads and waits until the transcription ends. */
async function transcribed(name: string, body: Uint8Array): Promise<Transcription> {
  const headers = { ...authorization, 'Content-Disposition': `attachment; filename="${name}"` };
  const answer = await fetch(`${base}/v1/transcriptions`, { method: 'POST', headers, body: Buffer.from(body) });
  const { uuid } = (await answer.json()) as { uuid: string };
  t.equal(answer.status, 201, name);
  return eventually(async () => {
    const found = await record(uuid);
    return found.status !== 'queued' && found.status !== 'processing' && found;
  });
}

/** Process ids of the parts that `up` runs, by name. */
function partsOf(pid: number): Map<string, number> {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  return new Map(
    children.map((child) => {
      const command = readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0');
      return [command[command.findIndex((word) => word.endsWith('launch.mjs')) + 1]!, child];
    }),
  );
}

await t.test('the printed lines upload a recording and return who said what', async (t) => {
  const { uuid } = JSON.parse(await shell(printed.upload!));
  t.match(uuid, /^[0-9a-f-]{36}$/);
  const found = await eventually(async () => {
    const answer: Transcription = JSON.parse(await shell(printed.result!));
    return answer.status === 'completed' && answer;
  });
  t.equal(found.id, uuid);
  t.equal(found.language, 'en');
  t.strictSame(
    found.segments.map((segment) => segment.speaker_id),
    ['speaker_1', 'speaker_2', 'speaker_1', 'speaker_2'],
  );
  for (const [index, segment] of found.segments.entries()) t.ok(missing(REFERENCE[index]!, segment.text) <= FEW_ERRORS, segment.text);
  t.ok(Math.abs(found.segments[1]!.start! - 5.1) < 0.7, 'the second speaker starts where the first ends');
  t.match(found.text, /^\[00:0\d\] Speaker 1: .*\n\[00:0\d\] Speaker 2: /);
});

await t.test('files that are not recordings fail with their code and leave nothing behind', async (t) => {
  const sample = path.join(ROOT, 'bench', 'data', 'two-speakers.wav');
  const picture = ['-f', 'lavfi', '-i', 'testsrc=duration=3:size=160x120:rate=10'];
  const film = await ffmpeg('film.mp4', ...picture, '-i', sample, '-shortest', '-c:v', 'mpeg4', '-c:a', 'aac');
  const codes = await Promise.all([
    transcribed('bytes.mp3', randomBytes(20_000)),
    transcribed('cut.mp4', film.subarray(0, film.length / 2)),
    transcribed('mute.mp4', await ffmpeg('mute.mp4', ...picture, '-c:v', 'mpeg4')),
    transcribed('short.wav', await ffmpeg('short.wav', '-i', sample, '-t', '0.5')),
    transcribed('letter.mp3', Buffer.from('To whom it may concern. '.repeat(86).slice(0, 2048))),
  ]);
  t.strictSame(
    codes.map(({ status, error_code }) => [status, error_code]),
    ['FILE_CORRUPTED', 'FILE_CORRUPTED', 'FILE_NO_AUDIO', 'RECORDING_TOO_SHORT', 'FILE_CORRUPTED'].map((code) => ['failed', code]),
  );
  const headers = { ...authorization, 'Content-Disposition': 'attachment; filename="empty.mp3"' };
  const empty = await fetch(`${base}/v1/transcriptions`, { method: 'POST', headers, body: '' });
  t.match([empty.status, await empty.json()], [400, { code: 'file_too_small' }]);
  t.ok(await eventually(async () => readdirSync(path.join(home, 'spool')).length === 0), 'the spool is empty');
  t.equal((await fetch(`${base}/readyz`)).status, 200);
});

await t.test('silence and noise give an empty transcript', async (t) => {
  const sounds = ['anullsrc=r=16000:cl=mono', 'anoisesrc=r=16000:color=pink:amplitude=0.3:seed=1'];
  for (const [index, sound] of sounds.entries()) {
    const found = await transcribed('nothing.wav', await ffmpeg(`nothing${index}.wav`, '-f', 'lavfi', '-i', sound, '-t', '5'));
    t.match(found, { status: 'completed', text: '', segments: [] });
  }
});

await t.test('a second process on the same state folder is refused', async (t) => {
  const { code, stdout, stderr } = await finish(LONGHAND, ['up'], env);
  t.match([code, stdout, stderr], [1, /^$/, /process \d+ is running on it/]);
});

await t.test('killed processes are restarted, and work continues', async (t) => {
  for (const part of ['api', 'engine']) process.kill(partsOf(up.child.pid!).get(part)!, 'SIGKILL');
  await eventually(async () => (await fetch(`${base}/readyz`).catch(() => null))?.ok);
  const found = await transcribed('again.wav', readFileSync(path.join(ROOT, 'bench', 'data', 'clips', 'en_jfk.mp3')));
  t.match(found, { status: 'completed', text: /ask not what your country can do for you/i });
});

await t.test('up shuts down cleanly, and a second start prints only its address and still has everything', async (t) => {
  const list = async (address: string) => {
    const answer = await fetch(`${address}/v1/transcriptions`, { headers: authorization });
    return ((await answer.json()) as { items: ListItem[] }).items;
  };
  const before = await list(base);
  t.ok(before.length);
  t.equal(await up.stop('SIGINT'), 0);
  writeFileSync(path.join(home, 'postgres', 'data', 'postmaster.pid'), `${process.pid}\n`); // as left by a crash; the id now belongs to another process
  const again = start(t, LONGHAND, ['up'], env);
  const address = (await again.said(/^listening on (http:\S+)$/m))[1]!;
  t.equal(again.output.stdout, `listening on ${address}\n`);
  t.strictSame(await list(address), before);

  const parts = partsOf(again.child.pid!);
  await again.stop('SIGKILL');
  const gone = (pid: number) => !existsSync(`/proc/${pid}`);
  t.ok(await eventually(async () => gone(parts.get('api')!) && gone(parts.get('engine')!)), 'the parts exit by themselves without up');
  const last = start(t, LONGHAND, ['up'], env);
  const place = (await last.said(/^listening on (http:\S+)$/m))[1]!;
  t.strictSame(await list(place), before);
});
