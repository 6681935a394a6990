import { readdirSync, readFileSync } from 'node:fs';
import { notFound } from '../contract/errors.ts';
import type { Request } from '../http/request.ts';
import { type Reply, type Route, route } from '../http/route.ts';
import { FOR_EVER, type StaticFile, sendFile, staticFile } from '../http/static-file.ts';

const DIST = new URL('./dist/', import.meta.url);
/** No external resources, no inline scripts, no framing. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self' blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const;

let files: Map<string, StaticFile> | null = null;

/** The built pages, read once. Empty if they have not been built: scripts/prepare.mjs does that. */
function built(): Map<string, StaticFile> {
  files ??= new Map(
    ['index.html', ...list('assets/')].flatMap((name) => {
      const plain = read(name);
      return plain ? [[name, staticFile(name, plain)] as const] : [];
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

function send(name: string, request: Request, cache: string): Promise<Reply> {
  const file = built().get(name);
  if (!file) throw notFound();
  return sendFile(file, request, { ...PAGE_HEADERS, 'cache-control': cache });
}

const hidden = { method: 'GET', tag: 'Console', access: null, hidden: true, answers: {}, errors: [] } as const;

/** The console's page, and its files under names that change with their content. */
export const pages: readonly Route[] = [
  route({ ...hidden, path: '/', summary: 'The console', handler: ({ request }) => send('index.html', request, 'no-cache') }),
  route({
    ...hidden,
    path: '/assets/{name}',
    summary: 'A file of the console',
    handler: ({ request, params }) => send(`assets/${params.name}`, request, FOR_EVER),
  }),
];
