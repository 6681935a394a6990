import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { ERRORS } from '../../../api/contract/errors.ts';
import { ROUTES as ALL } from '../../../api/v1/routes.ts';
import { ENDPOINTS, EVERYWHERE, PAIRS } from '../codes.ts';

/** Routes with the errors of another API are tested in test/api/openai. */
const ROUTES = ALL.filter(({ refusals }) => !refusals);
const used = new Set(ROUTES.flatMap(({ errors }) => errors as readonly string[]));
const THEIRS = new Set(ALL.flatMap(({ errors }) => errors as readonly string[]).filter((code) => !used.has(code)));

const TESTS = new URL('../../', import.meta.url);
/** No request can provoke it on purpose: it reports a fault of the server. */
const OURS = new Set(['internal_error']);

/** Webhooks are an addition, with tests of their own: test/api/v1/webhooks.test.ts. */
const SPECIFIED = ROUTES.filter(({ hidden, tag }) => !hidden && tag !== 'Webhooks');

/** The errors that tests declare to provoke, with the files that do. */
const provoked = new Map<string, string[]>();
for (const file of readdirSync(TESTS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'))) {
  const source = readFileSync(new URL(file, TESTS), 'utf8');
  for (const [, endpoint, status, code] of source.matchAll(/\bprovokes\(\s*('[^']+'|\w+),\s*(\d{3}),\s*(?:'(\w+)'|null),?\s*\)/g)) {
    const named = endpoint!.startsWith("'") ? endpoint!.slice(1, -1) : new RegExp(`const ${endpoint} = '([^']+)'`).exec(source)?.[1];
    note(`${named} ${status} ${code ?? null}`, file);
  }
  for (const [, status, code] of source.matchAll(/\bprovokesEverywhere\(\s*(\d{3}),\s*'(\w+)',?\s*\)/g)) {
    for (const [endpoint] of ENDPOINTS) note(`${endpoint} ${status} ${code}`, file);
  }
}
function note(pair: string, file: string): void {
  provoked.set(pair, [...(provoked.get(pair) ?? []), file]);
}

t.test('every endpoint, status and code of part 7 of the specification is provoked by a test', async (t) => {
  const everywhere = ENDPOINTS.flatMap(([endpoint]) => EVERYWHERE.map(([status, code]) => [endpoint, status, code] as const));
  for (const pair of [...everywhere, ...PAIRS])
    t.ok(provoked.has(pair.join(' ')) || provoked.has(`${pair[0]} ${pair[1]} ${pair[2]}`), `${pair.join(' ')}`);
});

t.test('every code of the error table is in the table of part 7, under its status', async (t) => {
  const known = new Set([...EVERYWHERE.map((pair) => pair.join(' ')), ...PAIRS.map(([, status, code]) => `${status} ${code}`)]);
  for (const [code, { status }] of Object.entries(ERRORS))
    if (!OURS.has(code) && !THEIRS.has(code)) t.ok(known.has(`${status} ${code}`), code);
});

t.test('every endpoint of the route table is in the table of part 7', async (t) => {
  const known = new Set(ENDPOINTS.map(([endpoint]) => endpoint));
  for (const { method, path } of SPECIFIED) t.ok(known.has(`${method} ${path.replace('/v1', '')}`), `${method} ${path}`);
});

t.test('every answer that a route documents is in the table of part 7', async (t) => {
  const known = new Set(PAIRS.map((pair) => pair.join(' ')));
  for (const { method, path, errors, access } of SPECIFIED) {
    const endpoint = `${method} ${path.replace('/v1', '')}`;
    for (const error of [
      ...errors,
      ...(access?.scopeError ? [access.scopeError] : []),
      ...(access?.tokenError ? [access.tokenError] : []),
    ]) {
      const [status, code] = typeof error === 'number' ? [error, null] : [ERRORS[error].status, error];
      t.ok(known.has(`${endpoint} ${status} ${code ?? ''}`), `${endpoint} ${status} ${code}`);
    }
  }
});
