import { randomUUID } from 'node:crypto';
import t from 'tap';
import { openFolderSpool } from '../../../db/spool/folder.ts';
import type { Engine } from '../../../engine/tasks/engine.ts';
import { openSweeper } from '../../../engine/tasks/sweep.ts';
import { testDatabase } from '../../support/database.ts';

t.test('files that cannot be removed keep no others in the spool, however many they are, and are reported', async (t) => {
  const { db } = await testDatabase(t);
  const spool = await openFolderSpool(t.testdir());
  const ids = Array.from({ length: 5 }, () => randomUUID());
  for (const id of ids) await (await spool.create(id, 'mp3')).finish();
  const warnings: unknown[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (entry: unknown) => void warnings.push(entry) };
  const engine = { db, spool, log, trouble: { reason: null }, options: { keepDays: 0, retentionDays: 0 } } as unknown as Engine;
  const bad = Array.from({ length: 250 }, () => `${randomUUID()}.`); // more than a batch
  const insert = (names: string[]) =>
    db.query('*', `insert into spool_orphans (name, seen_at) select unnest(?::text[]), '-infinity'`, [names]);
  await insert(bad);
  await insert(ids.map((id) => `${id}.mp3`));
  const sweeper = openSweeper(engine);
  await sweeper.sweep();
  t.equal(warnings.length, 1, 'one line per batch');
  t.match(warnings[0], { count: 200, error: /Cannot name a file/ });
  await sweeper.sweep();
  for await (const { id } of spool.list()) t.fail(`${id} is left in the spool`);
  const [left] = await db.query('*', 'select count(*)::int as count from spool_orphans');
  t.strictSame(left, { count: bad.length }, 'what is left is tried again');
});
