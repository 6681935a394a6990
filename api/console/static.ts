import { readdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { notFound } from '../contract/errors.ts';
import type { Request } from '../http/request.ts';
import { type Reply, type Route, route } from '../http/route.ts';

const DIST = new URL('./dist/', import.meta.url);
const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** No external resources, no inline scripts, no framing. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const;

interface File {
  type: string;
  plain: Buffer;
  gzip: Buffer;
  brotli: Buffer;
}

let files: Map<string, File> | null = null;

/** The built pages, read and compressed once. Empty if they have not been built: scripts/prepare.mjs does that. */
function built(): Map<string, File> {
  files ??= new Map(
    ['index.html', ...list('assets/')].flatMap((name) => {
      const plain = read(name);
      const type = TYPES[name.split('.').at(-1)!] ?? 'application/octet-stream';
      return plain ? [[name, { type, plain, gzip: gzipSync(plain), brotli: brotliCompressSync(plain) }] as const] : [];
    }),
  );
  return files;
}

function list(folder: string): string[] {
  try {
    return readdirSync(new URL(folder, DIST)).map((name) => folder + name);
  } catch {
    return [];
  }
}

function read(name: string): Buffer | null {
  try {
    return readFileSync(new URL(name, DIST));
  } catch {
    return null;
  }
}

function send(name: string, request: Request, cache: string): Reply {
  const file = built().get(name);
  if (!file) throw notFound();
  const accepted = request.headers.get('accept-encoding') ?? '';
  const [encoding, body] = /\bbr\b/.test(accepted)
    ? ['br', file.brotli]
    : /\bgzip\b/.test(accepted)
      ? ['gzip', file.gzip]
      : [null, file.plain];
  const headers = { ...PAGE_HEADERS, 'content-type': file.type, 'cache-control': cache, vary: 'Accept-Encoding' };
  return { status: 200, headers: encoding ? { ...headers, 'content-encoding': encoding } : headers, body };
}

const hidden = { method: 'GET', tag: 'Console', access: null, hidden: true, answers: {}, errors: [] } as const;

/** The console's page, and its files under names that change with their content. */
export const pages: readonly Route[] = [
  route({ ...hidden, path: '/', summary: 'The console', handler: ({ request }) => send('index.html', request, 'no-cache') }),
  route({
    ...hidden,
    path: '/assets/{name}',
    summary: 'A file of the console',
    handler: ({ request, params }) => send(`assets/${params.name}`, request, 'public, max-age=31536000, immutable'),
  }),
];
