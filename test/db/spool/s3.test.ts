import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import t from 'tap';
import { openSpool, type Spool } from '../../../db/spool.ts';

Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });

/** TEST_S3_ENDPOINT, or a server of the Python package moto where it is installed: `pip install 'moto[server]'`. */
async function server(): Promise<string | null> {
  if (process.env.TEST_S3_ENDPOINT) return process.env.TEST_S3_ENDPOINT;
  try {
    execFileSync('moto_server', ['--help'], { stdio: 'ignore' });
  } catch {
    return null;
  }
  const port = await new Promise<number>((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
  const child = spawn('moto_server', ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  t.teardown(() => child.kill());
  const url = `http://127.0.0.1:${port}`;
  for (const end = Date.now() + 30_000; Date.now() < end; await sleep(100)) {
    const up = await fetch(url).then(
      () => true,
      () => false,
    );
    if (up) return url;
  }
  throw new Error('moto_server did not start');
}

const endpoint = await server();
const skip = endpoint ? false : 'there is no S3 server: set TEST_S3_ENDPOINT, or install moto[server]';

async function open(): Promise<Spool> {
  const bucket = `test-${randomUUID()}`;
  await new S3Client({ endpoint: endpoint!, region: 'us-east-1', forcePathStyle: true }).send(new CreateBucketCommand({ Bucket: bucket }));
  return openSpool({ LONGHAND_HOME: '.', LONGHAND_MEDIA: `s3://${bucket}/some/prefix`, S3_ENDPOINT: endpoint! });
}

async function names(spool: Spool): Promise<string[]> {
  const all: string[] = [];
  for await (const { id, extension } of spool.list()) all.push(`${id}.${extension}`);
  return all;
}

t.test('open() gives back from S3 what was written, in one part or several', { skip }, async (t) => {
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
    await t.rejects(spool.open(id, 'wav', randomBytes(32), `${plain}2`), /Cannot open the sealed file/);
    await t.rejects(stat(`${plain}2`), { code: 'ENOENT' });
    await spool.remove(id, 'wav');
    await spool.remove(id, 'wav');
    t.strictSame(await names(spool), []);
    await t.rejects(spool.open(id, 'wav', key, `${plain}2`), { name: 'NoSuchKey' });
  }
});

t.test('abort() leaves nothing in S3, and remove() takes what a crash left half uploaded', { skip }, async (t) => {
  const spool = await open();
  const [small, large, crashed] = [randomUUID(), randomUUID(), randomUUID()];
  const first = await spool.create(small, 'mp3');
  await first.write(randomBytes(100));
  await first.abort();
  const second = await spool.create(large, 'mp3');
  for (let i = 0; i < 160; i++) await second.write(randomBytes(65_536));
  await second.abort();
  t.strictSame(await names(spool), []);
  const third = await spool.create(crashed, 'mp3');
  for (let i = 0; i < 160; i++) await third.write(randomBytes(65_536));
  t.strictSame(await names(spool), [`${crashed}.mp3.part`]);
  await spool.remove(crashed, 'mp3.part');
  t.strictSame(await names(spool), []);
  await third.abort();
});

t.test('writable() rejects where there is no bucket', { skip }, async (t) => {
  const spool = await openSpool({ LONGHAND_HOME: '.', LONGHAND_MEDIA: `s3://absent-${randomUUID()}`, S3_ENDPOINT: endpoint! });
  await t.rejects(spool.writable(), { name: 'NoSuchBucket' });
});
