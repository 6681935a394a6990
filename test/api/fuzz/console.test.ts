import fc from 'fast-check';
import t from 'tap';
import { z } from 'zod';
import { consoleRoutes } from '../../../api/console/routes.ts';
import { ROUTES } from '../../../api/v1/routes.ts';
import { encoded, headerValue, inPath, judge, odd, openTarget, RUNS, request } from '../../support/api/fuzz.ts';
import { visit } from '../../support/console/console.ts';

const target = await openTarget(t);
const { api, owner, key, id, exchange, always } = target;
const { cookie, csrf, ask } = await visit(api, { key });
const other = await api.world.member(owner.workspaceId, { email: 'other@example.org' });
const project = await api.world.project(owner.workspaceId, 'Sales');
const HAZARDS = /^DELETE .*\/(session|members\/\{id\}|keys\/\{id\})$/; // would end the session that the others need
const routes = consoleRoutes(ROUTES).filter(({ method, path }) => path.startsWith('/v1/app/') && !HAZARDS.test(`${method} ${path}`));

/** The field names of a schema. */
function namesIn(schema: z.ZodType | undefined): string[] {
  if (!schema) return [];
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return Object.keys(properties);
}

const BODY = [...new Set(routes.flatMap((route) => namesIn(route.body)))];
const QUERY = [...new Set(routes.flatMap((route) => namesIn(route.query)))];
const known = fc.constantFrom(id, other.id, project, '0', 'speaker_1', 'summary');
const segment = fc.oneof({ weight: 2, arbitrary: known }, { weight: 1, arbitrary: encoded }, { weight: 1, arbitrary: inPath });
const value: fc.Arbitrary<unknown> = fc.oneof(
  odd,
  known,
  fc.constantFrom('owner', 'user', 'active', 'https://example.org/hook', 'http://127.0.0.1:1/x', 'new@example.org', true, null, 1, -1, 1e9),
  fc.jsonValue({ maxDepth: 2 }),
  fc.array(fc.oneof(odd, known), { maxLength: 3 }),
);
const pairs = (names: readonly string[], values: fc.Arbitrary<unknown>) =>
  fc.dictionary(fc.constantFrom(...names, 'x', '__proto__'), values, { maxKeys: 5 });
const query = pairs(QUERY, encoded).map((all) =>
  Object.entries(all)
    .map(([name, text]) => `${name}=${text}`)
    .join('&'),
);

t.test('every route of the console is tested', (t) => {
  t.ok(routes.length >= 30, `${routes.length} routes`);
  t.ok(BODY.length >= 10 && QUERY.length >= 3);
  t.end();
});

t.test('hostile requests to /v1/app with a session get well-formed answers', async (t) => {
  const body = fc.oneof({ weight: 4, arbitrary: pairs(BODY, value).map((all) => JSON.stringify(all)) }, { weight: 1, arbitrary: odd });
  const route = fc
    .constantFrom(...routes)
    .chain(({ method, path }) =>
      fc
        .array(segment, { minLength: 3, maxLength: 3 })
        .map((segments) => ({ method, path: path.replace(/\{\w+\}/g, () => segments.pop()!) })),
    );
  await always(
    t,
    fc.tuple(route, query, body),
    async ([{ method, path }, query, body]) => {
      const headers = { Cookie: cookie, 'X-CSRF-Token': csrf, 'Content-Type': 'application/json' };
      judge(await exchange(request(method, `${path}?${query}`, headers, method === 'GET' ? '' : body)), 'oauth');
    },
    4 * RUNS,
  );
  t.equal((await ask('GET', '/session')).status, 200, 'the session is still valid');
});

t.test('hostile cookies and CSRF tokens give no access', async (t) => {
  const cookies = fc.oneof(
    headerValue,
    headerValue.map((text) => `longhand_session=${text}`),
    fc.constant(`${cookie}x`),
    fc.constant(cookie.toUpperCase()),
  );
  await always(t, fc.tuple(cookies, headerValue), async ([cookies, token]) => {
    const headers = { Cookie: cookies, 'X-CSRF-Token': token, 'Content-Type': 'application/json' };
    const answer = await exchange(request('POST', '/v1/app/projects', headers, '{"name":"x"}'));
    judge(answer);
    if (answer!.status < 400) throw new Error(`${answer!.status}: it was let in`);
  });
});
