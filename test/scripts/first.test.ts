import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { readSettings } from '../../api/contract/settings.ts';
import { firstKey, instructions } from '../../scripts/commands/first.ts';
import { testDatabase } from '../support/databases/database.ts';
import { holding, waiting } from '../support/databases/gate.ts';
import { ROOT } from '../support/processes/processes.ts';
import { eventually } from '../support/processes/service.ts';

const { db, url } = await testDatabase(t);
const settings = readSettings({ LONGHAND_HOME: t.testdir() });
const count = async (table: string) => (await db.query('*', `select 1 from ${table}`)).length;

t.test('firstKey() that is interrupted leaves nothing behind, so that the next start is the first', async (t) => {
  const release = await holding(url, 'lock table api_keys in share mode');
  const first = firstKey(settings, url).catch((error: Error) => error);
  await eventually(async () => (await waiting(db, 'longhand-up')) > 0, 'the attempt to insert the key');
  await db.acrossTenants(async (tx) => {
    await tx.rows('set local role none');
    await tx.rows(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'longhand-up' and datname = current_database()`,
    );
  });
  t.type(await first, Error);
  release();
  t.equal(await count('workspaces'), 0);
});

t.test('firstKey() called by several hosts concurrently creates one workspace and one key', async (t) => {
  const made = await Promise.all([1, 2, 3].map(() => firstKey(settings, url)));
  t.equal(made.filter((each) => each).length, 1);
  t.strictSame([await count('workspaces'), await count('members'), await count('api_keys')], [1, 1, 1]);
});

t.test('instructions() prints BASE as used in README and the guides, with /v1', async (t) => {
  const printed = instructions('http://127.0.0.1:8080', { workspace: 'w', member: 'm', key: 'k' });
  const [, base] = /base URL of the API .*(http:\S+)/.exec(printed) ?? [];
  t.equal(base, 'http://127.0.0.1:8080/v1');
  t.match(printed, /create another: '.+\/longhand' admin key create --workspace w --member m/, 'quoted: a path may have spaces');
  const guides = readdirSync(path.join(ROOT, 'docs/guides')).map((name) => `docs/guides/${name}`);
  const set = ['README.md', ...guides].flatMap((file) =>
    [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/\bBASE\b["')]*(?:=| = |, "| \?: '|\) \?: ')["']?(http[^\s"']+)/g)].map(
      ([, url]) => url,
    ),
  );
  t.ok(set.length > 4, 'BASE has a default in the samples of every language');
  t.strictSame([...new Set(set)], [base]);
});
