import { notFound } from '../contract/errors.ts';
import { originOf } from '../http/public-url.ts';
import { type Reply, type Route, route } from '../http/route.ts';
import { FOR_EVER, sendFile } from '../http/static-file.ts';
import { describeApi } from './describe.ts';
import { DOCS_POLICY, docsPages } from './pages.ts';

const HOUR = { 'cache-control': 'public, max-age=3600', 'x-content-type-options': 'nosniff' };
const PLACE = 'https://longhand.invalid'; // placeholder for the server's URL

/** The machine-readable and human-readable descriptions of these routes. Built once, except for the server's URL. */
export function referenceRoutes(routes: readonly Route[]): Route[] {
  const text = JSON.stringify(describeApi(routes, PLACE));
  const { reference, guides, files } = docsPages();
  const common = { method: 'GET', tag: 'Operations', access: null, hidden: true, answers: {}, errors: [] } as const;
  return [
    route({
      ...common,
      path: '/v1/openapi.json',
      summary: 'This description',
      handler: ({ request, settings }) => ({
        status: 200,
        headers: { 'content-type': 'application/json; charset=utf-8', vary: 'Host, X-Forwarded-Proto', ...HOUR },
        body: text.replaceAll(PLACE, JSON.stringify(originOf(request, settings)).slice(1, -1)),
      }),
    }),
    route({ ...common, path: '/docs', summary: 'The reference page', handler: () => read(reference) }),
    route({ ...common, path: '/docs/guides', summary: 'Guides and recipes', handler: () => read(guides) }),
    route({
      ...common,
      path: '/docs/assets/{name}',
      summary: 'A file of these pages',
      handler({ request, params }) {
        const file = files.get(params.name!);
        if (!file) throw notFound();
        return sendFile(file, request, { 'cache-control': FOR_EVER, 'x-content-type-options': 'nosniff' });
      },
    }),
  ];
}

function read(body: string): Reply {
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': DOCS_POLICY, ...HOUR };
  return { status: 200, headers, body };
}
