import { PassThrough, type Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { Sealer, unseal, unsealRange } from './sealed.ts';
import type { Spool, SpoolEntry, SpoolPage, SpoolWriter } from './spool.ts';

const PART_BYTES = 8 * 1_048_576; // buffered in memory per upload in progress
const NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([a-z0-9]+)$/;
const PATIENCE = { connectionTimeout: 5_000, socketTimeout: 30_000 }; // milliseconds; the library's default is no timeout
const TRIAL_MS = 10_000;
const MOST_KEYS = 1000; // per response of the store
const FULL = new Set(['EntityTooLarge', 'QuotaExceeded', 'XMinioStorageFull', 'XMinioAdminBucketQuotaExceeded', 'InsufficientStorage']);
const OF_ONE_FILE = new Set(['NoSuchKey', 'NoSuchUpload', 'AbortError']);

interface Store {
  client: S3Client;
  bucket: string;
  prefix: string;
}

/** A spool in an S3-compatible store: `s3://bucket/prefix`, credentials from the usual AWS variables. */
export async function openS3Spool(place: string, endpoint?: string): Promise<Spool> {
  const { host: bucket, pathname } = new URL(place);
  const folder = pathname.replace(/^\/|\/$/g, '');
  const client = new S3Client({
    region: process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION ?? 'us-east-1',
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    requestHandler: PATIENCE,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  client.middlewareStack.add(
    (next) => async (request) => {
      try {
        return await next(request);
      } catch (error) {
        throw asSystemError(error as Error);
      }
    },
    { step: 'initialize' },
  );
  const store: Store = { client, bucket, prefix: folder ? `${folder}/` : '' };
  const at = (id: string, extension: string) => ({ Bucket: bucket, Key: `${store.prefix}${id}.${extension}` });
  return {
    create: async (id, extension) => new S3Writer(store, `${id}.${extension}`),
    async open(id, extension, key, into, signal) {
      const read = async () => {
        const { Body } = await client.send(new GetObjectCommand(at(id, extension)), { abortSignal: signal });
        return Body as Readable;
      };
      await unseal(read, `${id}.${extension}`, key, into);
    },
    read(id, extension, key, range, signal) {
      const fetch = async (start: number, end: number) => {
        const part = new GetObjectCommand({ ...at(id, extension), Range: `bytes=${start}-${end}` });
        const { Body } = await client.send(part, { abortSignal: signal });
        return Buffer.concat(await (Body as Readable).toArray());
      };
      return unsealRange(fetch, `${id}.${extension}`, key, range);
    },
    async remove(id, extension) {
      if (extension.endsWith('.part')) await abandon(store, `${id}.${extension.slice(0, -'.part'.length)}`);
      else await client.send(new DeleteObjectCommand(at(id, extension)));
    },
    list: () => entries(store),
    page: (after, limit) => pageOf(store, after, limit),
    async writable() {
      const trial = { Bucket: bucket, Key: `${store.prefix}.trial` };
      await client.send(new PutObjectCommand({ ...trial, Body: 'trial' }), { abortSignal: AbortSignal.timeout(TRIAL_MS) });
    },
    async marked(mark) {
      const ask = new GetObjectCommand({ Bucket: bucket, Key: markKey(store, mark) }); // the response to HEAD would not explain errors
      try {
        const { Body } = await client.send(ask, { abortSignal: AbortSignal.timeout(TRIAL_MS) });
        (Body as Readable).resume(); // discard the empty body
        return true;
      } catch (error) {
        if ((error as Error).name === 'NoSuchKey') return false;
        throw error;
      }
    },
    async mark(mark) {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: markKey(store, mark), Body: '' }), {
        abortSignal: AbortSignal.timeout(TRIAL_MS),
      });
    },
  };
}

function markKey({ prefix }: Store, mark: string): string {
  return `${prefix}.longhand-${mark}`;
}

async function* entries(store: Store): AsyncGenerator<SpoolEntry> {
  for (let after: string | null = null; ; ) {
    const page: SpoolPage = await pageOf(store, after, MOST_KEYS);
    yield* page.entries;
    if (page.next === null) return;
    after = page.next;
  }
}

/** Full responses of the store until `limit` is reached; those of the first page include uploads in progress. */
async function pageOf(store: Store, after: string | null, limit: number): Promise<SpoolPage> {
  const entries = after === null ? await parts(store) : [];
  let next = after;
  for (let left = limit; left > 0; ) {
    const { Contents = [], IsTruncated } = await store.client.send(
      new ListObjectsV2Command({
        ...{ Bucket: store.bucket, Prefix: store.prefix, MaxKeys: Math.min(left, MOST_KEYS) },
        StartAfter: next === null ? undefined : store.prefix + next,
      }),
    );
    for (const { Key } of Contents) {
      const [, id, extension] = NAME.exec(Key?.slice(store.prefix.length) ?? '') ?? [];
      if (id && extension) entries.push({ id, extension });
    }
    next = Contents.at(-1)?.Key?.slice(store.prefix.length) ?? null;
    if (!IsTruncated || next === null) return { entries, next: null };
    left -= Contents.length;
  }
  return { entries, next };
}

/** Files whose upload is incomplete. */
async function parts(store: Store): Promise<SpoolEntry[]> {
  return (await unfinished(store)).flatMap(({ key }) => {
    const [, id, extension] = NAME.exec(key.slice(store.prefix.length)) ?? [];
    return id && extension ? [{ id, extension: `${extension}.part` }] : [];
  });
}

/** Incomplete multipart uploads: crashes leave them behind, and they take space. */
async function unfinished(store: Store, name = ''): Promise<{ key: string; uploadId: string }[]> {
  const { Uploads } = await store.client.send(new ListMultipartUploadsCommand({ Bucket: store.bucket, Prefix: `${store.prefix}${name}` }));
  return (Uploads ?? []).flatMap(({ Key, UploadId }) => (Key && UploadId ? [{ key: Key, uploadId: UploadId }] : []));
}

async function abandon(store: Store, name: string): Promise<void> {
  for (const { key, uploadId } of await unfinished(store, name)) {
    await store.client
      .send(new AbortMultipartUploadCommand({ Bucket: store.bucket, Key: key, UploadId: uploadId }))
      .catch((error: Error) => {
        if (error.name !== 'NoSuchUpload') throw error; // it was aborted a moment ago
      });
  }
}

class S3Writer implements SpoolWriter {
  #store: Store;
  #name: string;
  #body = new PassThrough({ highWaterMark: PART_BYTES });
  #sealer: Sealer;
  #upload: Upload;
  #done: Promise<unknown>;

  constructor(store: Store, name: string) {
    this.#store = store;
    this.#name = name;
    this.#sealer = new Sealer(name);
    this.#upload = new Upload({
      client: store.client,
      params: { Bucket: store.bucket, Key: `${store.prefix}${name}`, Body: this.#body },
      partSize: PART_BYTES,
      queueSize: 1,
      leavePartsOnError: false,
    });
    this.#done = this.#upload.done();
    this.#done.catch(() => this.#body.destroy()); // wakes a writer that waits for space
  }

  async write(chunk: Uint8Array): Promise<void> {
    const pieces = this.#sealer.push(chunk); // copies before the first await
    let room = true;
    for (const piece of pieces) room = this.#body.write(piece);
    if (!room) await roomIn(this.#body);
    if (this.#body.destroyed) await this.#done; // the library destroys the body before it reports the error
  }

  async finish(): Promise<{ bytes: number; key: Buffer }> {
    for (const piece of this.#sealer.end()) this.#body.write(piece);
    this.#body.end();
    await this.#done;
    return { bytes: this.#sealer.bytes, key: this.#sealer.key };
  }

  async abort(): Promise<void> {
    await this.#upload.abort();
    this.#body.destroy();
    await this.#done.catch(() => {});
    await abandon(this.#store, this.#name);
    await this.#store.client.send(new DeleteObjectCommand({ Bucket: this.#store.bucket, Key: `${this.#store.prefix}${this.#name}` }));
  }
}

/** Resolves when the stream accepts more data, or never will. */
function roomIn(body: PassThrough): Promise<void> {
  return new Promise((resolve) => {
    if (body.destroyed) return resolve();
    const done = () => {
      body.off('drain', done).off('close', done);
      resolve();
    };
    body.on('drain', done).on('close', done);
  });
}

/**
 * Maps errors of the store to those of a disk, full (ENOSPC) or faulty (EIO: wrong credentials, missing bucket, outage), for which requests
 * fail temporarily and work is retried. Lost connections already have codes; errors of a single file are left as they are.
 */
function asSystemError(error: Error & { code?: string; $metadata?: { httpStatusCode?: number } }): Error {
  if (error.code || OF_ONE_FILE.has(error.name)) return error;
  const full = FULL.has(error.name) || error.$metadata?.httpStatusCode === 507;
  return Object.assign(error, {
    code: full ? 'ENOSPC' : 'EIO',
    message: `Cannot use the store of LONGHAND_MEDIA: ${error.name}: ${error.message}`,
  });
}
