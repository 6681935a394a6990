import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Folders whose rows are read and written by entities, unless a comment at the function states the reason for SQL. */
const PLAIN = ['db/access/', 'db/tenants/', 'db/reports/templates.ts', 'db/webhooks/endpoints.ts', 'db/webhooks/notifications.ts'];
/** MikroORM itself and the layer below. */
const BENEATH = ['db/postgres/'];

const SENDS = /\.(rows|row|outcome|query)(<[^(]*>)?\(/;
const REASON = /\bSQL\b[:,] ?[a-z].{10,}/;

const files = readdirSync(`${ROOT}db`, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file: `db/${file}`, text: readFileSync(`${ROOT}db/${file}`, 'utf8') }))
  .filter(({ file }) => !BENEATH.some((place) => file.startsWith(place)));

/** Top-level declarations, each with its comment. */
const declarations = (text: string) => text.split(/\n\n(?=\S)/);

t.test('SQL in tenants, access, templates and webhooks states its reason at each statement; everything else uses entities', async (t) => {
  const plain = files.filter(({ file }) => PLAIN.some((place) => file.startsWith(place)));
  t.ok(plain.length > 15, 'there are files');
  const bare = plain.flatMap(({ file, text }) =>
    declarations(text)
      .filter((each) => SENDS.test(each) && !REASON.test(each))
      .map((each) => `${file}: ${each.match(/function (\w+)/)?.[1] ?? each.slice(0, 60)}`),
  );
  t.strictSame(bare, []);
});

t.test('SQL never sets updated_at to a time that could be before the last change', async (t) => {
  const assignments = files.flatMap(({ file, text }) =>
    [...text.matchAll(/\bupdated_at = ([^,\n]*)/g)].map((found) => `${file}: ${found[1]}`),
  );
  t.ok(assignments.length > 7, 'there are assignments');
  t.strictSame(
    assignments.filter((one) => !one.includes('{NEXT_CHANGE}')),
    [],
  );
});

t.test('SQL elsewhere in db/ states its reason once per file', async (t) => {
  const bare = files.filter(({ text }) => SENDS.test(text) && !REASON.test(text)).map(({ file }) => file);
  t.strictSame(bare, []);
});
