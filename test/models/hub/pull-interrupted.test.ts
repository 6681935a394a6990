import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { importBytes } from '../../../models/choosing/space.ts';
import { pullModel } from '../../../models/hub/pull.ts';
import { importModel } from '../../../models/install/importing.ts';
import { downloadFolder, findModel, removeModel, verifyModel } from '../../../models/store.ts';
import { noDisks, smallDisk } from '../../support/processes/disk.ts';
import { SHAPES, writeCheckpoint } from '../checkpoint.ts';
import { openHub } from './fake-hub.ts';

const scratch = mkdtempSync(join(tmpdir(), 'longhand-pull-'));
t.teardown(() => rmSync(scratch, { recursive: true }));
const single = join(scratch, 'single');
writeCheckpoint(single, SHAPES.plain!, 'F16');
writeFileSync(join(single, 'README.md'), '---\nlicense: mit\n---\n# A model\n');
const sharded = join(scratch, 'sharded');
writeCheckpoint(sharded, SHAPES.other!, 'F32', 2);

const home = () => mkdtempSync(join(scratch, 'home-'));

t.test('pullModel() downloads a checkpoint over broken connections and imports it', async (t) => {
  const hub = await openHub(t, { 'openai/whisper-tiny': single });
  hub.cuts = [300_000, 200_000];
  const folder = home();
  const progress: number[] = [];
  const stages = new Set<string>();
  const onProgress = (fraction: number, stage: string) => {
    progress.push(fraction);
    stages.add(stage);
  };
  const model = await pullModel('tiny@main', { home: folder, hub: hub.base, onProgress, retryDelayMs: 1 });
  t.match(model, { name: 'whisper-tiny', licence: 'MIT', source: `${hub.base}/openai/whisper-tiny@c0ffee` });
  t.strictSame(await verifyModel('whisper-tiny', folder), []);
  t.strictSame(
    progress,
    [...progress].sort((a, b) => a - b),
  );
  t.ok(Math.abs(progress.at(-1)! - 1) < 1e-9);
  t.strictSame([...stages], ['downloading', 'converting']);
  const gets = hub.seen.filter((line) => line.startsWith('GET cdn'));
  t.equal(gets.length, 3);
  t.match(gets.slice(1), [/bytes=\d{5,}-/, /bytes=\d{5,}-/], 'resumes where it was interrupted');
  t.strictSame(readdirSync(join(folder, 'models', '.downloads')), []);
});

t.test('pullModel() resumes where an aborted call stopped', async (t) => {
  const hub = await openHub(t, { 'owner/fine-tuned': sharded });
  const folder = home();
  const stop = new AbortController();
  const onProgress = (fraction: number) => fraction > 0.3 && stop.abort();
  await t.rejects(pullModel('owner/fine-tuned', { home: folder, hub: hub.base, onProgress, signal: stop.signal }), { name: 'AbortError' });
  await t.rejects(findModel('fine-tuned', folder));
  const before = hub.seen.length;
  await pullModel('owner/fine-tuned', { home: folder, hub: hub.base, name: 'mine', variant: 'float32' });
  t.match(await findModel('mine', folder), { variant: 'float32', licence: 'unknown' });
  const again = hub.seen.slice(before).filter((line) => line.startsWith('GET'));
  t.ok(
    again.some((line) => /safetensors bytes=\d+-/.test(line)),
    again.join('\n'),
  );
  t.notOk(
    again.some((line) => line.includes('config.json')),
    'existing bytes are not downloaded again',
  );
});

t.test('pullModel() needs no space for what it has downloaded before', { skip: noDisks() ?? false }, async (t) => {
  const hub = await openHub(t, { 'owner/tuned': single });
  const disk = smallDisk(t, 100e6);
  cpSync(single, downloadFolder('owner/tuned', disk.path), { recursive: true });
  const { size } = statSync(join(single, 'model.safetensors'));
  disk.fill(importBytes(size / 2, 'int8', false) + size / 2);
  await pullModel('owner/tuned', { home: disk.path, hub: hub.base, variant: 'int8' });
  t.strictSame(await verifyModel('tuned', disk.path), []);
});

t.test(
  'pullModel() ends at once where the disk becomes full, and continues when there is space',
  { skip: noDisks() ?? false },
  async (t) => {
    const hub = await openHub(t, { 'owner/tuned': single });
    const disk = smallDisk(t, 100e6);
    const pull = (onProgress?: () => void) => pullModel('owner/tuned', { home: disk.path, hub: hub.base, variant: 'int8', onProgress });
    await t.rejects(
      pull(() => disk.fill(0)),
      { message: /Cannot write \S+: the disk of the models is full; free some space and try again/ },
    );
    disk.empty();
    t.equal((await pull()).name, 'tuned');
  },
);

t.test('pullModel() refuses a repository that another process is pulling, and takes over from one that was killed', async (t) => {
  const hub = await openHub(t, { 'owner/tuned': sharded });
  const folder = home();
  const pull = (name: string) => pullModel('owner/tuned', { home: folder, hub: hub.base, name, variant: 'float32' });
  const both = await Promise.allSettled([pull('first'), pull('second')]);
  t.strictSame(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const refused = both.find((one) => one.status === 'rejected')!;
  t.match(refused.reason, { message: /^Cannot pull owner\/tuned: process \d+ on \S+ is working on it; wait until it ends/ });
  const claim = `${downloadFolder('owner/tuned', folder)}.claim`;
  const write = (owner: object | string) => writeFileSync(claim, typeof owner === 'string' ? owner : JSON.stringify(owner));
  const ended = 2 ** 22 + 1; // beyond the largest number of a process
  write({ host: 'another', pid: ended });
  await t.rejects(pull('third'), /process 4194305 on another is working on it/, 'which cannot be asked from here');
  mkdirSync(downloadFolder('owner/tuned', folder), { recursive: true });
  await t.rejects(
    removeModel('owner/tuned', folder),
    /^Cannot remove the download of owner\/tuned: process 4194305 on another is working on it/,
  );
  t.ok(existsSync(downloadFolder('owner/tuned', folder)));
  write('');
  await t.rejects(pull('third'), /another process is working on it/, 'it has not written its name yet');
  write({ host: 'another', pid: ended });
  utimesSync(claim, new Date(0), new Date(0));
  await pull('third');
  write({ host: hostname(), pid: ended });
  await pull('fourth');
  write({ host: hostname(), pid: process.pid });
  await pull('fifth'); // from before the container was restarted: its processes have the same numbers again
  t.notOk(existsSync(claim));
});

t.test('pullModel() discards a partial download of an earlier version, even if it has the same length', async (t) => {
  const repositories = { 'owner/fine-tuned': join(scratch, 'before') };
  writeCheckpoint(repositories['owner/fine-tuned'], SHAPES.plain!, 'F16');
  const hub = await openHub(t, repositories);
  const folder = home();
  const stop = new AbortController();
  const onProgress = (_: number, stage: string) => stage === 'converting' && stop.abort();
  await t.rejects(pullModel('owner/fine-tuned', { home: folder, hub: hub.base, onProgress, signal: stop.signal }), { name: 'AbortError' });
  repositories['owner/fine-tuned'] = join(scratch, 'after');
  writeCheckpoint(repositories['owner/fine-tuned'], SHAPES.plain!, 'F16');
  const weights = readFileSync(join(scratch, 'after', 'model.safetensors'));
  weights[weights.length - 1]! ^= 1;
  writeFileSync(join(scratch, 'after', 'model.safetensors'), weights);
  const pulled = await pullModel('owner/fine-tuned', { home: folder, hub: hub.base });
  const imported = await importModel(join(scratch, 'after'), { home: folder, name: 'by-hand' });
  t.strictSame(
    pulled.files.filter(({ name }) => name.endsWith('.onnx')),
    imported.files.filter(({ name }) => name.endsWith('.onnx')),
  );
});

t.test('pullModel() keeps neither a whole nor a partial file of an earlier version where the hub reports no checksums', async (t) => {
  const repositories = { 'owner/changed': join(scratch, 'first') };
  writeCheckpoint(repositories['owner/changed'], SHAPES.plain!, 'F16');
  const hub = await openHub(t, repositories);
  hub.bucket = true;
  const again = join(scratch, 'second');
  writeCheckpoint(again, SHAPES.plain!, 'F16');
  const weights = readFileSync(join(again, 'model.safetensors'));
  for (let at = weights.length >> 1, end = at + 1000; at < end; at++) weights[at]! ^= 8;
  writeFileSync(join(again, 'model.safetensors'), weights);
  const wanted = await importModel(again, { home: home(), name: 'by-hand' });
  for (const cuts of [[], new Array(6).fill(0)]) {
    repositories['owner/changed'] = join(scratch, 'first');
    const folder = home();
    hub.cuts = cuts.length ? [weights.length - 5, ...cuts] : [];
    const refuse = () => Promise.reject(new Error('not accurate enough'));
    await t.rejects(
      pullModel('owner/changed', { home: folder, hub: hub.base, measure: refuse, quick: true, retryDelayMs: 1 }),
      cuts.length ? /broke off/ : /not accurate enough/,
    );
    repositories['owner/changed'] = again;
    const pulled = await pullModel('owner/changed', { home: folder, hub: hub.base });
    t.strictSame(pulled.files, wanted.files, cuts.length ? 'after a partial file' : 'after a whole one');
  }
});

t.test('pullModel() restarts a file if the server cannot resume', async (t) => {
  const hub = await openHub(t, { 'openai/whisper-tiny': single });
  hub.ranges = false;
  hub.cuts = [300_000];
  const folder = home();
  await pullModel('whisper-tiny@main', { home: folder, hub: hub.base, retryDelayMs: 1 });
  t.strictSame(await verifyModel('whisper-tiny', folder), []);
});

t.test('pullModel() accepts a file whose length the hub does not report, and still verifies it', async (t) => {
  const hub = await openHub(t, { 'openai/whisper-tiny': single });
  hub.unsized = 'tokenizer.json';
  const folder = home();
  const progress: number[] = [];
  const pull = () => pullModel('tiny@main', { home: folder, hub: hub.base, onProgress: (fraction) => progress.push(fraction) });
  hub.damage = 'tokenizer.json';
  await t.rejects(pull(), /Cannot use tokenizer\.json.*checksum/);
  hub.damage = undefined;
  await pull();
  t.strictSame(await verifyModel('whisper-tiny', folder), []);
  t.ok(progress.every((fraction) => fraction >= 0 && fraction <= 1 + 1e-9));
});

t.test('pullModel() gives up after consecutive failures without a new byte', async (t) => {
  const hub = await openHub(t, { 'openai/whisper-tiny': single });
  hub.cuts = new Array(20).fill(0);
  await t.rejects(pullModel('tiny@main', { home: home(), hub: hub.base, retryDelayMs: 1 }));
  t.equal(hub.cuts.length, 14);
});
