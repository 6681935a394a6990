import t from 'tap';
import type { Tx } from '../../../db/postgres/orm.ts';
import { testDatabase } from '../../support/databases/database.ts';

/*
 * Row-level security protects against missing predicates: every table that has it, according to pg_class, is filled with a row of each of two
 * workspaces, and tested with select, update, delete and insert without a predicate.
 */

const { db } = await testDatabase(t);

interface Column {
  name: string;
  type: string;
  /** Referenced table. */
  target: string | null;
  /** A value permitted by a check constraint. */
  literal: string | null;
  needed: boolean;
}

/** Values that satisfy check constraints on several columns. */
const CONSTRAINED: Record<string, Record<string, unknown>> = { templates: { scope: 'personal' }, workspaces: { plan: 'api' } };

const tables = (
  await db.query<{ name: string }>(
    '*',
    `select relname as name from pg_class where relrowsecurity and relkind = 'r' and relnamespace = current_schema()::regnamespace order by oid`,
  )
).map(({ name }) => name);

/** The column with the workspace of a row. */
const ownerOf = (table: string) => (table === 'workspaces' ? 'id' : 'workspace_id');

function columnsOf(table: string): Promise<Column[]> {
  return db.query<Column>(
    '*',
    `select a.attname as name, format_type(a.atttypid, null) as type, f.confrelid::regclass::text as target,
       (select substring(pg_get_constraintdef(k.oid) from '''([a-z_]+)''') from pg_constraint k
        where k.conrelid = a.attrelid and k.contype = 'c' and k.conkey = array[a.attnum] limit 1) as literal,
       a.attnotnull and not a.atthasdef and a.attidentity = '' as needed
     from pg_attribute a left join pg_constraint f on f.conrelid = a.attrelid and f.contype = 'f' and f.conkey = array[a.attnum]
     where a.attrelid = ?::regclass and a.attnum > 0 and not a.attisdropped`,
    [table],
  );
}

const SAMPLES: Record<string, string> = {
  uuid: 'gen_random_uuid()',
  text: `substr(md5(random()::text), 1, 8)`,
  bytea: `decode(md5(random()::text), 'hex')`,
  'timestamp with time zone': 'now()',
  date: 'current_date',
  json: `'{}'`,
  jsonb: `'{}'`,
  'text[]': `'{a}'`,
  'bigint[]': `'{1}'`,
  boolean: 'true',
};

/** The values of a row for a workspace, as SQL, by column; references point to rows of the same workspace. */
async function rowFor(table: string, workspace: string): Promise<Map<string, string>> {
  const row = new Map<string, string>();
  for (const { name, type, target, literal, needed } of await columnsOf(table)) {
    const wanted = CONSTRAINED[table]?.[name];
    if (wanted !== undefined) row.set(name, `'${wanted}'`);
    else if (name === ownerOf(table)) row.set(name, `'${workspace}'`);
    else if (target && tables.includes(target)) {
      const [found] = await db.query<{ id: string }>('*', `select id from ${target} where ${ownerOf(target)} = ? limit 1`, [workspace]);
      if (found) row.set(name, `'${found.id}'`);
    } else if (target) row.set(name, `(select min(id) from ${target})`);
    else if (needed) row.set(name, literal ? `'${literal}'` : (SAMPLES[type] ?? '1'));
  }
  return row;
}

const insert = (table: string, row: Map<string, string>) =>
  `insert into ${table} (${[...row.keys()].join(', ')}) values (${[...row.values()].join(', ')})`;

const [mine, foreign] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
await db.query('*', `insert into oauth_clients (id, name, redirect_uris) values ('client', 'client', '{}')`);

/** Fills a table after the tables that it references. */
async function fill(): Promise<void> {
  for (let rest = tables, rounds = 0; rest.length; rounds++) {
    if (rounds > 10) throw new Error(`no row could be made for ${rest.join(', ')}`);
    const failed: string[] = [];
    for (const table of rest) {
      try {
        for (const workspace of [mine, foreign]) {
          const [there] = await db.query('*', `select 1 from ${table} where ${ownerOf(table)} = ? limit 1`, [workspace]);
          if (!there) await db.query('*', insert(table, await rowFor(table, workspace)));
        }
      } catch (error) {
        if (rounds === 10) throw error;
        failed.push(table);
      }
    }
    rest = failed;
  }
}

class RolledBack extends Error {}

/** Runs a statement in the scope of workspace `mine` and rolls it back. Returns the number of returned rows of other workspaces. */
function foreignRows(sql: string): Promise<number> {
  let others = 0;
  return db
    .workspace(mine, async (tx: Tx) => {
      const rows = await tx.rows<{ owner: string }>(sql);
      others = rows.filter(({ owner }) => owner !== mine).length;
      throw new RolledBack();
    })
    .catch((error) => {
      if (error instanceof RolledBack) return others;
      throw error;
    });
}

/** Whether a statement affects rows of other workspaces, or a trigger on such a row is stopped by the policy of another table. */
async function affects(sql: string): Promise<boolean> {
  try {
    return (await foreignRows(sql)) > 0;
  } catch (error) {
    if ((error as { code?: string }).code === '42501') return true;
    throw error;
  }
}

async function refused(sql: string): Promise<boolean> {
  try {
    await foreignRows(sql);
    return false;
  } catch (error) {
    return (error as { code?: string }).code === '42501'; // insufficient_privilege: new row violates row-level security policy
  }
}

/** Operations by which a table exposes rows of another workspace. */
async function exposures(table: string): Promise<string[]> {
  const owner = ownerOf(table);
  const found: string[] = [];
  if (await foreignRows(`select ${owner} as owner from ${table}`)) found.push('select');
  if (await affects(`update ${table} set ${owner} = ${owner} returning ${owner} as owner`)) found.push('update');
  if (await affects(`delete from ${table} returning ${owner} as owner`)) found.push('delete');
  const row = await rowFor(table, foreign);
  if (table === 'workspaces') row.set('id', 'gen_random_uuid()').set('name', `'another'`);
  if (!(await refused(`${insert(table, row)} returning ${owner} as owner`))) found.push('insert');
  if (!(await refused(`update ${table} set ${owner} = '${foreign}' where ${owner} = '${mine}' returning ${owner} as owner`)))
    found.push('move');
  return found;
}

await fill();

t.test('every table with row-level security hides and protects the rows of another workspace without a predicate', async (t) => {
  t.ok(tables.length > 30 && tables.includes('transcriptions') && tables.includes('workspaces'), `${tables.length} tables`);
  for (const table of tables) {
    const own = await db.workspace(mine, (tx) => tx.rows(`select 1 from ${table}`));
    t.ok(own.length, `${table}: the workspace can read its own rows`);
    t.strictSame(await exposures(table), [], table);
    t.ok(
      (await db.query('*', `select 1 from ${table} where ${ownerOf(table)} = ?`, [foreign])).length,
      `${table}: the row of the other workspace still exists`,
    );
  }
});

t.test('every policy that is weakened is detected', async (t) => {
  for (const table of tables) {
    const [policy] = await db.direct(
      `select polname as name, pg_get_expr(polqual, polrelid) as using from pg_policy where polrelid = '${table}'::regclass`,
    );
    await db.direct(`alter policy ${policy!.name} on ${table} using (true or ${policy!.using})`);
    const open = await exposures(table);
    await db.direct(`alter policy ${policy!.name} on ${table} using (${policy!.using})`);
    t.ok(
      ['select', 'update', 'delete'].every((way) => open.includes(way)),
      `${table}: ${open.join(', ')}`,
    );
  }
});
