import { randomUUID } from 'node:crypto';
import t from 'tap';
import { openFolderSpool } from '../../../db/spool/folder.ts';
import type { Engine } from '../../../engine/tasks/engine.ts';
import { openSweeper } from '../../../engine/tasks/sweep.ts';
import { testDatabase } from '../../support/database.ts';

t.test('a file that cannot be removed keeps no other one in the spool, and is reported', async (t) => {
  const { db } = await testDatabase(t);
  const spool = await openFolderSpool(t.testdir());
  const ids = Array.from({ length: 5 }, () => randomUUID());
  for (const id of ids) await (await spool.create(id, 'mp3')).finish();
  const warnings: unknown[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (entry: unknown) => void warnings.push(entry) };
  const engine = { db, spool, log, trouble: { reason: null }, options: { keepDays: 0, retentionDays: 0 } } as unknown as Engine;
  const names = [`${randomUUID()}.`, ...ids.map((id) => `${id}.mp3`)];
  await db.query('*', `insert into spool_orphans (name, seen_at) select unnest(?::text[]), '-infinity'`, [names]);
  await openSweeper(engine).sweep();
  for await (const { id } of spool.list()) t.fail(`${id} is left in the spool`);
  t.strictSame(await db.query('*', 'select name from spool_orphans'), [{ name: names[0] }], 'what is left is tried again');
  t.equal(warnings.length, 1);
  t.match(warnings[0], { transcription: names[0]!.slice(0, -1), error: /Cannot name a file/ });
});
