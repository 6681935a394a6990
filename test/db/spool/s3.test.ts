import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CreateMultipartUploadCommand, S3Client, UploadPartCommand } from '@aws-sdk/client-s3';
import t from 'tap';
import { openSpool } from '../../../db/spool/open.ts';
import type { Spool } from '../../../db/spool/spool.ts';
import { names, pagesOf } from '../../support/engine/spool.ts';
import { needPrograms } from '../../support/processes/programs.ts';
import { CREDENTIALS, startS3 } from '../../support/servers/s3.ts';

const { versitygw } = needPrograms(t, 'versitygw');
const s3 = await startS3(t, versitygw);
const open = async (place?: string): Promise<Spool> =>
  openSpool({ LONGHAND_HOME: '.', LONGHAND_MEDIA: place ?? (await s3.place()), S3_ENDPOINT: s3.endpoint });

/** Simulates a process that was killed after its first part. */
async function halfUploaded(place: string, name: string): Promise<void> {
  const { host: Bucket, pathname } = new URL(place);
  const object = { Bucket, Key: `${pathname.slice(1)}/${name}` };
  const client = new S3Client({ endpoint: s3.endpoint, region: 'us-east-1', forcePathStyle: true });
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(object));
  await client.send(new UploadPartCommand({ ...object, UploadId, PartNumber: 1, Body: randomBytes(5_242_880) }));
  client.destroy();
}

t.test('open() returns the written bytes from S3, in one part or several', async (t) => {
  const spool = await open();
  await spool.writable();
  for (const size of [0, 1000, 20_000_000]) {
    const [id, data, plain] = [randomUUID(), randomBytes(size), join(t.testdir(), 'plain')];
    const writer = await spool.create(id, 'wav');
    for (let at = 0; at < size; at += 65_536) await writer.write(data.subarray(at, at + 65_536));
    const { bytes, key } = await writer.finish();
    t.equal(bytes, size);
    t.strictSame(await names(spool), [`${id}.wav`]);
    await spool.open(id, 'wav', key, plain);
    const hash = createHash('sha256');
    for await (const piece of createReadStream(plain)) hash.update(piece as Buffer);
    t.equal(hash.digest('hex'), createHash('sha256').update(data).digest('hex'));
    await t.rejects(spool.open(id, 'wav', randomBytes(32), `${plain}2`), /Cannot decrypt the spool file/);
    await t.rejects(stat(`${plain}2`), { code: 'ENOENT' });
    await spool.remove(id, 'wav');
    await spool.remove(id, 'wav');
    t.strictSame(await names(spool), []);
    await t.rejects(spool.open(id, 'wav', key, `${plain}2`), { name: 'NoSuchKey' });
  }
});

t.test('read() returns any range of the plaintext from S3', async (t) => {
  const spool = await open();
  const [id, data] = [randomUUID(), randomBytes(3_000_000)];
  const writer = await spool.create(id, 'mp3');
  await writer.write(data);
  const { key } = await writer.finish();
  const read = async (from: number, to: number) => {
    const pieces: Buffer[] = [];
    for await (const piece of spool.read(id, 'mp3', key, { bytes: data.length, from, to })) pieces.push(piece);
    return Buffer.concat(pieces);
  };
  for (const [from, to] of [
    [0, 0],
    [0, 2_999_999],
    [262_143, 262_144],
    [2_097_151, 2_097_152],
    [2_999_999, 2_999_999],
  ] as const)
    t.ok((await read(from, to)).equals(data.subarray(from, to + 1)), `${from}-${to}`);
  await spool.remove(id, 'mp3');
  await t.rejects(read(0, 10), { name: 'NoSuchKey' });
});

t.test('a marker in S3 identifies the spool', async (t) => {
  const [spool, other] = [await open(), await open()];
  await spool.mark('mine');
  t.strictSame([await spool.marked('mine'), await spool.marked('yours'), await other.marked('mine')], [true, false, false]);
  t.strictSame(await names(spool), [], 'no recording');
});

t.test('abort() leaves nothing in S3, and remove() deletes what a crash left partly uploaded', async (t) => {
  const place = await s3.place();
  const spool = await open(place);
  const [small, large, crashed] = [randomUUID(), randomUUID(), randomUUID()];
  const first = await spool.create(small, 'mp3');
  await first.write(randomBytes(100));
  await first.abort();
  const second = await spool.create(large, 'mp3');
  for (let i = 0; i < 160; i++) await second.write(randomBytes(65_536));
  await second.abort();
  t.strictSame(await names(spool), []);
  await halfUploaded(place, `${crashed}.mp3`);
  t.strictSame(await names(spool), [`${crashed}.mp3.part`]);
  await spool.remove(crashed, 'mp3.part');
  t.strictSame(await names(spool), []);
});

t.test('page() lists S3 in parts of the order of names, unfinished files included', async (t) => {
  const place = await s3.place();
  const spool = await open(place);
  const ids = Array.from({ length: 25 }, () => randomUUID()).sort();
  for (const id of ids) {
    const writer = await spool.create(id, 'mp3');
    await writer.write(randomBytes(10));
    await writer.finish();
  }
  await spool.mark('mine');
  const crashed = randomUUID();
  await halfUploaded(place, `${crashed}.mp3`);
  const pages = await pagesOf(spool, 10);
  const all = ids.map((id) => `${id}.mp3`);
  t.strictSame(pages.flat(), [`${crashed}.mp3.part`, ...all]);
  t.ok(pages.length >= 3 && pages.every((page) => page.length <= 11), `${pages.map((page) => page.length)}`);
  t.strictSame((await names(spool)).sort(), pages.flat().sort());
});

t.test('writable() rejects without a bucket and with wrong credentials', async (t) => {
  await t.rejects((await open(`s3://absent-${randomUUID()}`)).writable(), { name: 'NoSuchBucket', code: 'EIO' });
  const place = await s3.place();
  process.env.AWS_SECRET_ACCESS_KEY = 'another secret';
  const stranger = await open(place);
  await t.rejects(stranger.writable(), { name: 'SignatureDoesNotMatch', code: 'EIO' });
  Object.assign(process.env, CREDENTIALS);
});

t.test('write() and finish() reject while S3 is down, and the same spool works again when it is back', async (t) => {
  const spool = await open();
  const [kept, lost, broken] = [randomUUID(), randomUUID(), randomUUID()];
  const first = await spool.create(kept, 'wav');
  await first.write(randomBytes(1000));
  const { key } = await first.finish();
  const half = await spool.create(broken, 'wav');
  for (let i = 0; i < 160; i++) await half.write(randomBytes(65_536)); // more than one part
  await s3.down();
  const refused = { code: 'ECONNREFUSED' };
  await t.rejects(async () => {
    for (let i = 0; i < 1000; i++) await half.write(randomBytes(65_536));
  }, refused);
  const small = await spool.create(lost, 'wav');
  await small.write(randomBytes(1000));
  await t.rejects(small.finish(), refused);
  await t.rejects(spool.open(kept, 'wav', key, join(t.testdir(), 'plain')), refused);
  await t.rejects(spool.writable(), refused);
  await t.rejects(spool.marked('any'), refused);
  await s3.up();
  await spool.writable();
  await spool.open(kept, 'wav', key, join(t.testdir(), 'plain'));
  for (const left of await names(spool)) {
    if (left.endsWith('.part')) await spool.remove(broken, 'wav.part');
  }
  t.strictSame(await names(spool), [`${kept}.wav`]);
});
