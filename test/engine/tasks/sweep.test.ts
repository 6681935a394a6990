import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { openVault } from '../../../db/secrets/vault.ts';
import { openFolderSpool } from '../../../db/spool/folder.ts';
import type { Engine } from '../../../engine/tasks/engine.ts';
import { openSweeper } from '../../../engine/tasks/sweep.ts';
import { testDatabase } from '../../support/database.ts';
import { openWorld } from '../../support/world.ts';

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

t.test('media that cannot be removed keep those of no other transcription in the spool, finished or past their term', async (t) => {
  const { db } = await testDatabase(t);
  const world = openWorld(db, await openVault(db, [randomBytes(32)]));
  const member = await world.member(await world.workspace(), { role: 'owner' });
  const spool = await openFolderSpool(t.testdir());
  const remove = spool.remove.bind(spool);
  const bad = new Set<string>();
  spool.remove = async (id, extension) => {
    if (bad.has(id)) throw new Error('Operation not permitted');
    return remove(id, extension);
  };
  const warnings: { count?: number }[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (entry: object) => void warnings.push(entry) };
  const engine = {
    db,
    spool,
    log,
    trouble: { reason: null },
    options: { keepDays: 7, retentionDays: 0 },
  } as unknown as Engine;
  const ids: string[] = [];
  for (let k = 0; k < 450; k++) ids.push(await world.transcription(member));
  const add = async (chosen: readonly string[], until: string | null) => {
    await db.query(
      '*',
      `update transcriptions set media_key_sealed = 'key', extension = 'mp3', media_until = ?::timestamptz, completed_at = now() where id = any (?::uuid[])`,
      [until, chosen],
    );
    for (const id of chosen) await (await spool.create(id, 'mp3')).finish();
  };
  const finished = ids.slice(0, 200).toSorted();
  const kept = ids.slice(200);
  for (const id of [...finished.slice(0, 150), ...kept.slice(0, 210)]) bad.add(id); // more than a batch of each
  await add(finished, null);
  await add(kept.slice(0, 210), '2020-01-01');
  await add(kept.slice(210), '2021-01-01');
  const left = async () => {
    const found: string[] = [];
    for await (const { id } of spool.list()) found.push(id);
    return found;
  };
  const sweeper = openSweeper(engine);
  await sweeper.sweep();
  t.strictSame(
    (await left()).filter((id) => !bad.has(id)),
    [],
  );
  t.equal((await left()).length, bad.size);
  t.ok(warnings.length < 12, 'a line per batch');
  bad.clear();
  await sweeper.sweep();
  t.strictSame(await left(), [], 'those are tried again');
});
