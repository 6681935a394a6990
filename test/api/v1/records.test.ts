import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { openRecords } from '../../../api/v1/records.ts';
import type { Db, Tx } from '../../../db/postgres/orm.ts';
import { reportTarget } from '../../../db/reports/request.ts';
import { openVault } from '../../../db/secrets/vault.ts';
import { hold } from '../../../db/transcripts/mutate.ts';
import { loadRecord, readVersions } from '../../../db/transcripts/record.ts';
import { tokenOf } from '../../support/api/actors.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openWorld } from '../../support/databases/world.ts';

const { db } = await testDatabase(t);
const vault = await openVault(db, [randomBytes(32)]);
const world = openWorld(db, vault);
const workspace = await world.workspace();
const anna = await world.member(workspace, { role: 'owner' });
const bob = await world.member(workspace);
const stranger = await world.member(await world.workspace());
const as = tokenOf;

/** The database, with every statement recorded. */
function noting(statements: string[]): Db {
  const note = (tx: Tx): Tx => ({
    ...tx,
    rows: (sql, parameters) => {
      statements.push(sql);
      return tx.rows(sql, parameters);
    },
    row: (sql, parameters) => {
      statements.push(sql);
      return tx.row(sql, parameters);
    },
  });
  return {
    ...db,
    query: (scope, sql, parameters) => {
      statements.push(sql);
      return db.query(scope, sql, parameters);
    },
    workspace: (id, work) => db.workspace(id, (tx) => work(note(tx))),
  };
}

t.test('find() queries many records at once, and reads each record once per version', async (t) => {
  const statements: string[] = [];
  const records = openRecords(noting(statements), vault);
  const ids = await Promise.all(Array.from({ length: 5 }, () => world.transcription(anna)));
  const round = () => Promise.all(Array.from({ length: 200 }, (_, i) => records.find(as(anna, 'owner'), ids[i % 5]!, false)));
  const first = await round();
  t.ok(first.every((served, i) => JSON.parse(served!.body.toString()).id === ids[i % 5]));
  t.equal(statements.length, 1 + 5, 'one query, five records');
  statements.length = 0;
  await round();
  t.equal(statements.length, 1, 'only the query the second time');
});

t.test('find() checks who may see a record every time, whoever it was cached for', async (t) => {
  const records = openRecords(db, vault);
  const id = await world.transcription(anna);
  t.ok(await records.find(as(anna, 'owner'), id, false));
  const [theirs, mine, foreign] = await Promise.all([
    records.find(as(bob, 'user'), id, false),
    records.find(as(anna, 'owner'), id, false),
    records.find(as(stranger, 'owner'), id, false),
  ]);
  t.equal(theirs, null);
  t.ok(mine);
  t.equal(foreign, null);
});

t.test('find() caches no more than its limit, and evicts the least recently used record first', async (t) => {
  const statements: string[] = [];
  const ids = await Promise.all(Array.from({ length: 12 }, () => world.transcription(anna)));
  const size = (await openRecords(db, vault).find(as(anna, 'owner'), ids[0]!, false))!.body.length;
  const records = openRecords(noting(statements), vault, size * 10);
  const reads = async (id: string) => {
    statements.length = 0;
    await records.find(as(anna, 'owner'), id, false);
    return statements.length - 1;
  };
  for (const id of ids.slice(0, 10)) t.equal(await reads(id), 1);
  t.equal(await reads(ids[0]!), 0, 'used again');
  t.equal(await reads(ids[10]!), 1);
  t.equal(await reads(ids[0]!), 0);
  t.equal(await reads(ids[1]!), 1, 'the least recently used was evicted');
  records.forget(workspace, ids[0]!);
  t.equal(await reads(ids[0]!), 1);
});

t.test('an absent, a foreign, a hidden and a malformed id run the same statements', async (t) => {
  const foreign = await world.transcription(stranger);
  const hidden = await world.transcription(anna);
  const viewer = as(bob, 'user');
  const asked: string[][] = [];
  for (const id of [randomUUID(), foreign, hidden, 'x']) {
    const statements: string[] = [];
    const noted = noting(statements);
    t.strictSame(await readVersions(noted, workspace, [{ actor: viewer, id }]), [null]);
    t.equal(await openRecords(noted, vault).find(viewer, id, false), null);
    t.equal(await noted.workspace(workspace, (tx) => loadRecord(tx, vault, viewer, id)), null);
    t.equal(await noted.workspace(workspace, (tx) => reportTarget(tx, viewer, id)), null);
    const refusal = await noted.workspace(workspace, (tx) => hold(tx, viewer, id)).catch((error: unknown) => error);
    t.match(refusal, { code: 'not_found' });
    asked.push(statements);
  }
  for (const statements of asked) t.strictSame(statements, asked[0]);
  t.equal(asked[0]!.length, 5);
});
