import { type Reply, type Route, route } from '../http/route.ts';
import { describeApi } from './describe.ts';
import { guidesPage } from './guides.ts';
import { DOCS_POLICY, docsPage } from './reference-page.ts';

const HOUR = { 'cache-control': 'public, max-age=3600', 'x-content-type-options': 'nosniff' };

/** The description of these routes for programs and for people. Made once. */
export function referenceRoutes(routes: readonly Route[]): Route[] {
  const document = describeApi(routes);
  const text = JSON.stringify(document);
  const page = docsPage(document);
  const guides = guidesPage();
  const common = { method: 'GET', tag: 'Operations', access: null, hidden: true, answers: {}, errors: [] } as const;
  return [
    route({
      ...common,
      path: '/v1/openapi.json',
      summary: 'This description',
      handler: () => ({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8', ...HOUR }, body: text }),
    }),
    route({ ...common, path: '/docs', summary: 'The reference page', handler: () => read(page) }),
    route({ ...common, path: '/docs/guides', summary: 'Guides and recipes', handler: () => read(guides) }),
  ];
}

function read(body: string): Reply {
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': DOCS_POLICY, ...HOUR };
  return { status: 200, headers, body };
}
