import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request } from './request.ts';
import type { Reply } from './route.ts';

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }; // below the default, 11: the Scalar bundle is 3.5 MB

export interface StaticFile {
  type: string;
  plain: Buffer;
  /** Made once, when first asked for. */
  compressed(): Promise<{ br: Buffer; gzip: Buffer }>;
}

/** A file that is served as it is; its type goes by the ending of `name`. */
export function staticFile(name: string, plain: Buffer): StaticFile {
  let made: Promise<{ br: Buffer; gzip: Buffer }> | null = null;
  const compress = async () => {
    const [br, zipped] = await Promise.all([promisify(brotliCompress)(plain, QUALITY), promisify(gzip)(plain)]);
    return { br, gzip: zipped };
  };
  return {
    type: TYPES[name.split('.').at(-1)!] ?? 'application/octet-stream',
    plain,
    compressed: () => (made ??= compress()),
  };
}

/** Sends a file, compressed as the client takes it. */
export async function sendFile(file: StaticFile, request: Request, headers: Readonly<Record<string, string>>): Promise<Reply> {
  const all = { ...headers, 'content-type': file.type, vary: 'Accept-Encoding' };
  const accepted = request.headers.get('accept-encoding') ?? '';
  const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : null;
  if (!encoding) return { status: 200, headers: all, body: file.plain };
  return { status: 200, headers: { ...all, 'content-encoding': encoding }, body: (await file.compressed())[encoding] };
}

/** The name of a file with a part that changes with its content, so that browsers may keep it for ever. */
export function hashedName(name: string, plain: Buffer): string {
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 8);
  return name.replace(/\.(\w+)$/, `-${hash}.$1`);
}

export const FOR_EVER = 'public, max-age=31536000, immutable';
