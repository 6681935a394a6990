import { execFileSync } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, watch } from 'node:fs';
import { open, readdir, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { openFolderSpool } from '../../../db/spool/folder.ts';
import type { Spool } from '../../../db/spool/spool.ts';
import { names, pagesOf } from '../../support/engine/spool.ts';
import { noDisks } from '../../support/processes/disk.ts';

async function store(spool: Spool, id: string, extension: string, data: Buffer, step = 65_536): Promise<Buffer> {
  const writer = await spool.create(id, extension);
  for (let at = 0; at < data.length; at += step) await writer.write(data.subarray(at, at + step));
  const { bytes, key } = await writer.finish();
  t.equal(bytes, data.length);
  return key;
}

t.test('open() returns 50 MB byte for byte, in a file that only this user can read', async (t) => {
  const folder = t.testdir();
  const spool = await openFolderSpool(join(folder, 'spool'));
  const block = randomBytes(1_000_003);
  const id = randomUUID();
  const hash = createHash('sha256');
  const writer = await spool.create(id, 'wav');
  for (let i = 0; i < 50; i++) {
    const reused = Buffer.from(block);
    const writing = writer.write(reused);
    hash.update(block);
    reused.fill(0); // write() has copied the bytes before it returns
    await writing;
  }
  const { bytes, key } = await writer.finish();
  t.equal(bytes, 50 * block.length);
  await spool.open(id, 'wav', key, join(folder, 'plain'));
  const read = createHash('sha256');
  for await (const piece of createReadStream(join(folder, 'plain'))) read.update(piece as Buffer);
  t.equal(read.digest('hex'), hash.digest('hex'));
  t.equal((await stat(join(folder, 'plain'))).mode & 0o777, 0o600);
  await spool.remove(id, 'wav');
  await spool.remove(id, 'wav');
  t.strictSame(await names(spool), []);
});

t.test('write() and open() preserve files of every size around a chunk, with no plaintext in the spool', async (t) => {
  const folder = t.testdir();
  const spool = await openFolderSpool(folder);
  for (const size of [0, 1, 262_143, 262_144, 262_145, 524_288, 524_289]) {
    const [id, data] = [randomUUID(), Buffer.alloc(size, 'spoken words ')];
    const key = await store(spool, id, 'mp3', data);
    t.notOk((await readFile(join(folder, `${id}.mp3`))).includes('spoken'));
    await spool.open(id, 'mp3', key, join(folder, 'plain'));
    t.ok((await readFile(join(folder, 'plain'))).equals(data), `${size} bytes`);
    execFileSync('rm', [join(folder, 'plain')]);
  }
});

t.test('open() rejects a file that is truncated, changed, renamed or under another key, and leaves no unencrypted file', async (t) => {
  const folder = t.testdir();
  const spool = await openFolderSpool(folder);
  const [id, twin] = [randomUUID(), randomUUID()];
  const key = await store(spool, id, 'mp3', randomBytes(600_000));
  const sealed = await readFile(join(folder, `${id}.mp3`));
  const plain = join(folder, 'plain');
  const damaged = async (bytes: Buffer, why: string) => {
    await writeFile(join(folder, `${id}.mp3`), bytes);
    await t.rejects(spool.open(id, 'mp3', key, plain), /Cannot decrypt the spool file/, why);
    await t.rejects(stat(plain), { code: 'ENOENT' });
  };
  for (const length of [0, 5, 11, 20, 262_171, 524_331, sealed.length - 1]) await damaged(sealed.subarray(0, length), `cut to ${length}`);
  for (const at of [0, 4, 12, 300_000, sealed.length - 1]) {
    const bytes = Buffer.from(sealed);
    bytes[at]! ^= 1;
    await damaged(bytes, `byte ${at}`);
  }
  await writeFile(join(folder, `${id}.mp3`), sealed);
  await writeFile(join(folder, `${twin}.mp3`), sealed);
  await t.rejects(spool.open(twin, 'mp3', key, plain), /Cannot decrypt the spool file/);
  await t.rejects(spool.open(id, 'mp3', randomBytes(32), plain), /Cannot decrypt the spool file/);
  await t.rejects(spool.open(randomUUID(), 'mp3', key, plain), { code: 'ENOENT' });
  await spool.open(id, 'mp3', key, plain);
});

t.test('open() of a missing file whose plaintext cannot be written either rejects, and no error is left to end the process', async (t) => {
  const spool = await openFolderSpool(t.testdir());
  const uncaught: Error[] = [];
  const note = (error: Error) => void uncaught.push(error);
  process.on('uncaughtException', note);
  t.teardown(() => process.off('uncaughtException', note));
  const into = join(t.testdirName, 'absent', 'plain');
  await t.rejects(spool.open(randomUUID(), 'mp3', randomBytes(32), into), { code: 'ENOENT' });
  await sleep(50); // a failed read that nobody awaits is reported by then
  t.strictSame(uncaught, []);
});

t.test('read() returns any range of the plaintext, rejects another size, and ends when the file is removed', async (t) => {
  const folder = t.testdir();
  const spool = await openFolderSpool(folder);
  const [id, data] = [randomUUID(), randomBytes(3_000_000)];
  const key = await store(spool, id, 'mp3', data);
  const read = async (from: number, to: number, bytes = data.length) => {
    const pieces: Buffer[] = [];
    for await (const piece of spool.read(id, 'mp3', key, { bytes, from, to })) pieces.push(piece);
    return Buffer.concat(pieces);
  };
  const edge = 262_144;
  const ends = [0, 1, edge - 1, edge, edge + 1, 8 * edge - 1, 8 * edge, 2_999_998, 2_999_999];
  for (const from of ends)
    for (const to of ends.filter((end) => end >= from)) t.ok((await read(from, to)).equals(data.subarray(from, to + 1)), `${from}-${to}`);
  const damaged = /Cannot decrypt the spool file/;
  await t.rejects(read(2_999_000, 2_999_998, data.length - 1), damaged, 'a smaller size');
  await t.rejects(read(2_999_000, 3_000_000, data.length + 1), damaged, 'a larger size');
  await t.rejects(async () => {
    for await (const _ of spool.read(id, 'mp3', randomBytes(32), { bytes: data.length, from: 0, to: 9 }));
  }, damaged);
  const reading = spool.read(id, 'mp3', key, { bytes: data.length, from: 0, to: data.length - 1 })[Symbol.asyncIterator]();
  t.equal((await reading.next()).value.length, 8 * edge);
  await spool.remove(id, 'mp3');
  await t.rejects(reading.next(), { code: 'ENOENT' }, 'a removed file does not stay on disk for a slow reader');
});

t.test('abort() leaves nothing behind, whenever it is called', async (t) => {
  const folder = t.testdir();
  const spool = await openFolderSpool(folder);
  const early = await spool.create(randomUUID(), 'mp3');
  await early.abort();
  const writer = await spool.create(randomUUID(), 'mp3');
  writer.write(randomBytes(1_000_000)).catch(() => {});
  t.match(await names(spool), [/\.mp3\.part$/]);
  await writer.abort();
  await writer.abort();
  const done = await spool.create(randomUUID(), 'mp3');
  await done.write(randomBytes(10));
  await done.finish();
  await done.abort();
  t.strictSame(await readdir(folder), []);
});

t.test('remove() also deletes unfinished files left by a crash', async (t) => {
  const folder = t.testdir();
  const spool = await openFolderSpool(folder);
  const id = randomUUID();
  const file = await open(join(folder, `${id}.mp3.part`), 'w');
  await file.close();
  t.strictSame(await names(spool), [`${id}.mp3.part`]);
  await spool.remove(id, 'mp3.part');
  t.strictSame(await names(spool), []);
});

t.test('page() lists a folder in parts of the order of names, unfinished files included', async (t) => {
  const folder = t.testdir();
  const spool = await openFolderSpool(folder);
  const all = Array.from({ length: 25 }, (_, i) => `${randomUUID()}.${i % 5 ? 'mp3' : 'mp3.part'}`).sort();
  for (const name of [...all, 'unrelated', '.trial']) await writeFile(join(folder, name), '');
  await spool.mark('mine');
  const pages = await pagesOf(spool, 10);
  t.strictSame(pages, [all.slice(0, 10), all.slice(10, 20), all.slice(20)]);
  t.strictSame(await spool.page(all[24]!, 10), { entries: [], next: null });
});

t.test('openFolderSpool() rejects names that would leave the folder', async (t) => {
  const spool = await openFolderSpool(t.testdir());
  await t.rejects(spool.create('../x', 'mp3'));
  await t.rejects(spool.create(randomUUID(), '../mp3'));
  await t.rejects(spool.remove(randomUUID(), 'mp3/../../x'));
});

t.test('openFolderSpool() reports a missing folder as an infrastructure error, and a marker identifies the folder', async (t) => {
  const root = join(t.testdir(), 'spool');
  const spool = await openFolderSpool(root);
  t.equal(await spool.marked('mine'), false);
  await spool.mark('mine');
  t.strictSame([await spool.marked('mine'), await spool.marked('other')], [true, false]);
  t.strictSame(await names(spool), [], 'no recording');
  const writer = await spool.create(randomUUID(), 'mp3');
  await writer.write(randomBytes(10));
  await rename(root, `${root}-away`);
  const away = { code: 'EIO', message: /Cannot use the folder of LONGHAND_MEDIA, .*: ENOENT/ };
  await t.rejects(writer.finish(), away);
  await t.rejects(spool.create(randomUUID(), 'mp3'), away);
  await t.rejects(spool.writable(), away);
  await t.rejects(spool.marked('mine'), away);
  await rename(`${root}-away`, root);
  t.equal(await spool.marked('mine'), true);
});

t.test('writable() removes its file, also one that a killed process left', async (t) => {
  const root = t.testdir();
  const spool = await openFolderSpool(root);
  const watcher = watch(root);
  t.teardown(() => watcher.close());
  const [[, name]] = await Promise.all([once(watcher, 'change') as Promise<[string, string]>, spool.writable()]);
  t.strictSame(await readdir(root), []);
  await writeFile(join(root, name), 'left by a killed process');
  await Promise.all([spool.writable(), spool.writable()]);
  t.strictSame(await readdir(root), []);
});

t.test('write() and writable() reject with ENOSPC on a full disk, and abort() frees the space', { skip: noDisks() ?? false }, async (t) => {
  const folder = t.testdir();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'pipe' });
  try {
    const spool = await openFolderSpool(folder);
    await spool.writable();
    const writer = await spool.create(randomUUID(), 'mp3');
    const fill = async () => {
      for (let i = 0; i < 8; i++) await writer.write(randomBytes(262_144));
    };
    await t.rejects(fill(), { code: 'ENOSPC' });
    await t.rejects(spool.writable(), { code: 'ENOSPC' });
    await t.rejects(writer.finish(), { code: 'ENOSPC' });
    t.strictSame(await readdir(folder), []);
    await spool.writable();
  } finally {
    execFileSync('umount', ['-l', folder]);
  }
});

t.test('open() detects truncation at a chunk boundary', async (t) => {
  const folder = t.testdir();
  const spool = await openFolderSpool(folder);
  const id = randomUUID();
  const key = await store(spool, id, 'mp3', randomBytes(2 * 262_144 + 5));
  await truncate(join(folder, `${id}.mp3`), 11 + 2 * (262_144 + 16)); // exactly at a chunk boundary
  await t.rejects(spool.open(id, 'mp3', key, join(folder, 'plain')), /Cannot decrypt the spool file/);
});
