import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFull } from '../choosing/space.ts';
import { isTemporary, Later, type Place, Refused, refusal, unreachable } from './refusals.ts';

/** A model hub with the URLs of Hugging Face: `{base}/{repository}/resolve/{revision}/{file}`. */
export interface Hub extends Place {
  /** Delay between attempts, multiplied by their number. Default 2 s. */
  retryDelayMs?: number;
  signal?: AbortSignal;
}

export interface HubFile {
  name: string;
  /** NaN if the hub does not report it. */
  bytes: number;
  /** Commit of the repository; later files are downloaded from the same one. */
  revision: string;
  /** sha256 of a large file, git's blob sha1 of a small one, on some mirrors the sha1 of both, empty if the hub reports none. */
  checksum: string;
  /** Changes with the content, if the hub reports no checksum: the entity tag, or the time of the last change. */
  version?: string;
}

const ATTEMPTS = 6; // consecutive attempts without a new byte
const STALL_MS = 30_000; // without a byte before the connection is aborted
const REDIRECTS = 5;

/** Names of branches and of pull requests, such as refs/pr/1, may have slashes. */
function urlOf({ base, repository }: Hub, revision: string, name: string): URL {
  return new URL(`${repository}/resolve/${encodeURIComponent(revision)}/${name}`, `${base.replace(/\/$/, '')}/`);
}

/** A file's metadata from the hub; null if there is no such file. Throws if the hub cannot be reached, refuses, or is busy for too long. */
export async function lookUp(hub: Hub, name: string, revision = 'main'): Promise<HubFile | null> {
  for (let failures = 1; ; failures++) {
    try {
      return await lookUpOnce(hub, name, revision);
    } catch (error) {
      if (!(error instanceof Later) || !isTemporary(error) || failures >= ATTEMPTS) throw error;
      await pause(hub, failures, error);
    }
  }
}

async function lookUpOnce(hub: Hub, name: string, revision: string): Promise<HubFile | null> {
  let url = urlOf(hub, revision, name);
  const found = { bytes: Number.NaN, revision, checksum: '', version: '' };
  for (let hop = 0; hop < REDIRECTS; hop++) {
    const response = await request(hub, url, { method: 'HEAD', redirect: 'manual' });
    const { status, headers } = response;
    if (status === 404) return null;
    if (status >= 400) throw refusal(hub, name, response);
    found.revision = headers.get('x-repo-commit') ?? found.revision;
    found.checksum ||= hash(headers.get('x-linked-etag')) || (status < 300 ? hash(headers.get('etag')) : '');
    if (status < 300) found.version = headers.get('etag') ?? headers.get('last-modified') ?? '';
    if (headers.has('x-linked-size')) found.bytes = Number(headers.get('x-linked-size'));
    else if (status < 300 && Number.isNaN(found.bytes)) found.bytes = lengthOf(response);
    const location = headers.get('location');
    const enough = found.checksum !== '' && !Number.isNaN(found.bytes);
    if (status < 300 || !location || enough) break;
    url = new URL(location, url);
  }
  return { name, ...found };
}

/** Where a part is kept, separately per version: a download never continues with another version's bytes. */
function partOf(to: string, { checksum, revision, version }: HubFile): string {
  const known = version && createHash('sha256').update(`${revision} ${version}`).digest('hex');
  return `${to}.${(checksum || known)?.slice(0, 12) || encodeURIComponent(revision)}.part`;
}

/** Whether the whole file may be there. Without a checksum it may be that of another version, of the same size. */
async function isHere({ checksum, bytes }: HubFile, to: string): Promise<boolean> {
  return checksum !== '' && (await sizeOf(to)) === bytes;
}

/** Bytes of a file that earlier attempts have left here. */
export async function bytesHere(file: HubFile, to: string): Promise<number> {
  return (await isHere(file, to)) ? file.bytes : sizeOf(partOf(to, file));
}

/**
 * Downloads a file, resuming an earlier attempt or run, and verifies its size and checksum. Gives up after `ATTEMPTS` without a new byte.
 * @param onBytes called with the bytes present so far.
 */
export async function download(hub: Hub, file: HubFile, to: string, onBytes?: (bytes: number) => void): Promise<void> {
  if ((await isHere(file, to)) && (await matches(to, file))) return onBytes?.(file.bytes); // otherwise it is another version
  const part = partOf(to, file);
  let most = 0; // bytes present after any attempt: a server that cannot resume restarts the file
  for (let failures = 0; (await sizeOf(part)) !== file.bytes; ) {
    try {
      await append(hub, file, part, onBytes);
      if (Number.isNaN(file.bytes)) break;
    } catch (error) {
      hub.signal?.throwIfAborted();
      const size = await sizeOf(part);
      failures = size > most ? 1 : failures + 1;
      most = Math.max(most, size);
      if (!isTemporary(error) || failures >= ATTEMPTS) throw error;
      await pause(hub, failures, error);
    }
  }
  if (!(await matches(part, file))) {
    await rm(part);
    throw new Error(
      `Cannot use ${file.name} of ${hub.repository}: its checksum differs from what ${hub.base} reported; try again, or use another hub`,
    );
  }
  await rename(part, to);
}

/** Waits before the next attempt, as long as the hub asks to. */
function pause({ retryDelayMs = 2000, signal }: Hub, failures: number, error: unknown): Promise<void> {
  const asked = error instanceof Later ? error.waitMs : 0;
  return sleep(Math.max(retryDelayMs * failures, asked), undefined, { signal });
}

/**
 * Downloads the missing part of `part`. Throws if the answer was complete and the file is not. What is not of the file is removed, such as a
 * sign-in page.
 */
async function append(hub: Hub, file: HubFile, part: string, onBytes?: (bytes: number) => void): Promise<void> {
  let size = await sizeOf(part);
  if (size > 0 && !(size <= file.bytes)) {
    await rm(part); // without a known length it cannot be resumed
    size = 0;
  }
  const url = urlOf(hub, file.revision, file.name);
  const stall = new AbortController();
  const timer = setTimeout(() => stall.abort(new Error(`no byte for ${STALL_MS / 1000} s`)), STALL_MS);
  try {
    const headers = size > 0 ? { range: `bytes=${size}-` } : undefined;
    const response = await request(hub, url, { headers }, stall.signal);
    if (response.status >= 400) throw refusal(hub, file.name, response);
    const resumed = response.status === 206;
    const announced = lengthOf(response);
    if (!resumed && isOther(announced, file)) {
      await response.body?.cancel();
      throw wrongLength(hub, file, `${announced} bytes`, size > 0 || announced > file.bytes);
    }
    if (!resumed) size = 0;
    const counted = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        timer.refresh();
        size += chunk.length;
        if (size > file.bytes) throw wrongLength(hub, file, `more than ${file.bytes} bytes`, true);
        onBytes?.(size);
        yield chunk;
      }
    };
    await pipeline(Readable.fromWeb(response.body as never), counted, createWriteStream(part, { flags: resumed ? 'a' : 'w' }), {
      signal: stall.signal,
    }).catch(async (error) => {
      if (error instanceof Refused) await rm(part, { force: true });
      throw error instanceof Refused ? error : brokenOff(hub, file, size, stall.signal.reason ?? error);
    });
    if (!isOther(size, file)) return;
    if (!resumed) await rm(part, { force: true });
    throw wrongLength(hub, file, `${size} bytes`);
  } finally {
    clearTimeout(timer);
  }
}

async function request(hub: Hub, url: URL, init: RequestInit, stall?: AbortSignal): Promise<Response> {
  const signals = [hub.signal, stall ?? AbortSignal.timeout(STALL_MS)].filter((signal) => signal !== undefined);
  const own = url.origin === new URL(hub.base).origin;
  const headers = { 'accept-encoding': 'identity', ...(hub.token && own ? { authorization: `Bearer ${hub.token}` } : {}), ...init.headers };
  try {
    return await fetch(url, { ...init, headers, signal: AbortSignal.any(signals) });
  } catch (cause) {
    hub.signal?.throwIfAborted();
    throw unreachable(url, cause as Error);
  }
}

/** The error for a body that ended with an error. The bytes are kept. */
function brokenOff(hub: Hub, { name, bytes }: HubFile, size: number, cause: Error): Error {
  if (isFull(cause))
    // another attempt would not help
    return new Refused(`Cannot write ${name}: the disk of the models is full; free some space and try again, and it continues there`, {
      cause,
    });
  const all = Number.isNaN(bytes) ? '' : ` of ${bytes}`;
  const found = `it broke off after ${size}${all} bytes (${cause.message})`;
  return new Error(`Cannot download ${name} of ${hub.repository} from ${hub.base}: ${found}; try again, and it continues there`, { cause });
}

/** Whether a length, if it is known, is not that of the file. */
function isOther(bytes: number, file: HubFile): boolean {
  return !Number.isNaN(bytes) && !Number.isNaN(file.bytes) && bytes !== file.bytes;
}

function wrongLength(hub: Hub, file: HubFile, found: string, final = false): Error {
  const remedy = 'if the network or a proxy asks you to sign in, do so and try again; otherwise use another hub';
  const message = `Cannot get ${file.name} of ${hub.repository} from ${hub.base}: found ${found}, wanted ${file.bytes}; ${remedy}`;
  return final ? new Refused(message) : new Error(message);
}

/** The length of the body that a response announces; NaN if none, or only that of its compressed form. */
function lengthOf({ headers }: Response): number {
  const encoding = headers.get('content-encoding') ?? 'identity';
  return encoding === 'identity' ? Number(headers.get('content-length') ?? Number.NaN) : Number.NaN;
}

/** The hash in an entity tag, empty if there is none. */
function hash(tag: string | null): string {
  return /^(?:W\/)?"?([0-9a-f]{64}|[0-9a-f]{40})"?$/.exec(tag ?? '')?.[1] ?? '';
}

/** 40 digits are git's hash of a small file on Hugging Face, or the SHA-1 of any file on a mirror such as Artifactory. */
async function matches(path: string, { checksum }: HubFile): Promise<boolean> {
  if (checksum === '') return true;
  const git = createHash('sha1').update(`blob ${await sizeOf(path)}\0`);
  const hashes = checksum.length === 64 ? [createHash('sha256')] : [git, createHash('sha1')];
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) for (const each of hashes) each.update(chunk);
  return hashes.some((each) => each.digest('hex') === checksum);
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0;
}
