import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export interface FakeHub {
  base: string;
  /** `METHOD file range` of each request. */
  seen: string[];
  /** Revisions of requests. */
  revisions: Set<string>;
  /** The headers `authorization` of requests. */
  tokens: Set<string>;
  /** Breaks the connection after this many bytes of a file's body, once per entry. */
  cuts: number[];
  damage?: string;
  /** A file whose length is not reported. */
  unsized?: string;
  ranges: boolean;
  /** Reports no checksum of weights. */
  unsummed?: boolean;
  /** Answers as Artifactory does: each file itself, with its SHA-1 as ETag, and no commit. */
  mirror?: boolean;
  /** Answers as a bucket of S3 does: each file itself, with an entity tag that is no checksum known here, and no commit. */
  bucket?: boolean;
}

/** A model hub on a real socket: weights are redirected to another path and have `x-linked-*` headers; small files have the git blob hash as ETag. */
export async function openHub(t: { teardown(after: () => unknown): void }, repositories: Record<string, string>): Promise<FakeHub> {
  const hub: FakeHub = { base: '', seen: [], revisions: new Set(), tokens: new Set(), cuts: [], ranges: true };
  const server = createServer((request, response) => serve(hub, repositories, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  hub.base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return hub;
}

function serve(hub: FakeHub, repositories: Record<string, string>, request: IncomingMessage, response: ServerResponse): void {
  const [, repository, place, revision, file] = /^\/([^/]+\/[^/]+)\/(resolve|cdn)\/([^/]+)\/(.+)$/.exec(request.url!) ?? [];
  const folder = repositories[repository ?? ''];
  if (!folder || !file || !readdirSync(folder).includes(file)) return void response.writeHead(404).end();
  const body = Buffer.from(readFileSync(join(folder, file)));
  const large = file.endsWith('.safetensors');
  const tag = large
    ? createHash('sha256').update(body).digest('hex')
    : createHash('sha1').update(`blob ${body.length}\0`).update(body).digest('hex');
  hub.revisions.add(revision!);
  if (request.headers.authorization) hub.tokens.add(request.headers.authorization);
  hub.seen.push([request.method, place, file, request.headers.range].filter(Boolean).join(' '));
  if (large && place === 'resolve' && !hub.mirror && !hub.bucket) {
    const headers = {
      ...(hub.unsummed ? {} : { 'x-linked-etag': `"${tag}"` }),
      'x-linked-size': body.length,
      'x-repo-commit': 'c0ffee',
      location: `/${repository}/cdn/c0ffee/${file}`,
    };
    return void response.writeHead(302, headers).end();
  }
  if (hub.damage === file) body[body.length - 1]! ^= 1;
  const from = hub.ranges ? Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0) : 0;
  const sized = hub.unsized === file ? {} : { 'content-length': body.length - from };
  const digest = (algorithm: string) =>
    createHash(algorithm)
      .update(readFileSync(join(folder, file)))
      .digest('hex');
  const own =
    hub.mirror || hub.bucket
      ? { etag: digest(hub.bucket ? 'md5' : 'sha1') }
      : { ...(large && hub.unsummed ? {} : { etag: `"${tag}"` }), 'x-repo-commit': 'c0ffee' };
  const headers = { ...own, ...sized };
  response.writeHead(
    from > 0 ? 206 : 200,
    from > 0 ? { ...headers, 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` } : headers,
  );
  if (request.method === 'HEAD') return void response.end();
  const cut = large ? hub.cuts.shift() : undefined;
  if (cut === undefined) return void response.end(body.subarray(from));
  response.write(body.subarray(from, from + cut), () => setTimeout(() => response.destroy(), 50));
}
