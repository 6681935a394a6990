import { randomBytes, randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { expireTranscripts } from '../../../db/jobs/sweep.ts';
import { openVault } from '../../../db/secrets/vault.ts';
import { openFolderSpool } from '../../../db/spool/folder.ts';
import { deleteWorkspace } from '../../../db/tenants/workspaces.ts';
import type { Engine } from '../../../engine/tasks/engine.ts';
import { purge } from '../../../engine/tasks/purge.ts';
import { openSweeper } from '../../../engine/tasks/sweep.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openWorld } from '../../support/databases/world.ts';

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

/** An engine with these options, on a spool that cannot remove some files: those in `bad`. */
async function hindered(t: Test, options: { keepDays: number; retentionDays: number | null }) {
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
  const engine = { db, spool, log, trouble: { reason: null }, options } as unknown as Engine;
  return {
    ...{ db, world, member, bad, warnings, engine, sweeper: openSweeper(engine) },
    /** Adds completed transcriptions. */
    async transcriptions(count: number): Promise<string[]> {
      const ids: string[] = [];
      for (let k = 0; k < count; k++) ids.push(await world.transcription(member));
      return ids;
    },
    /** Adds their recordings to the spool. `until`: they are kept. */
    async record(ids: readonly string[], until: string | null = null): Promise<void> {
      await db.query(
        '*',
        `update transcriptions set media_key_sealed = 'key', extension = 'mp3', media_until = ?::timestamptz, completed_at = now() where id = any (?::uuid[])`,
        [until, ids],
      );
      for (const id of ids) await (await spool.create(id, 'mp3')).finish();
    },
    /** The recordings in the spool. */
    async left(): Promise<string[]> {
      const found: string[] = [];
      for await (const { id } of spool.list()) found.push(id);
      return found.sort();
    },
  };
}

t.test('files that could not be removed are tried after all others', async (t) => {
  const { engine, db, bad, sweeper, left } = await hindered(t, { keepDays: 0, retentionDays: null });
  const add = async (count: number, seen: string, looked = 'now()') => {
    const ids = Array.from({ length: count }, () => randomUUID());
    for (const id of ids) await (await engine.spool.create(id, 'mp3')).finish();
    await db.query('*', `insert into spool_orphans (name, seen_at, looked_at) select unnest(?::text[]) || '.mp3', ${seen}, ${looked}`, [
      ids,
    ]);
    return ids;
  };
  const DELETED = `'-infinity'`;
  for (const id of await add(250, DELETED)) bad.add(id); // more than a batch
  await add(5, DELETED, `now() - interval '1 minute'`); // the others were tried since
  await sweeper.sweep();
  t.strictSame(await left(), [...bad].sort());
  const LISTED = `now() - interval '1 hour'`;
  for (const id of await add(250, LISTED)) bad.add(id);
  for (let k = 0; k < 2; k++) await sweeper.tidy();
  await add(5, LISTED);
  await sweeper.tidy();
  t.strictSame(await left(), [...bad].sort());
});

t.test('media that cannot be removed keep those of no other transcription in the spool, finished or past their term', async (t) => {
  const { bad, warnings, sweeper, transcriptions, record, left } = await hindered(t, { keepDays: 7, retentionDays: 0 });
  const ids = await transcriptions(450);
  const finished = ids.slice(0, 200).toSorted();
  const kept = ids.slice(200);
  for (const id of [...finished.slice(0, 150), ...kept.slice(0, 210)]) bad.add(id); // more than a batch of each
  await record(finished);
  await record(kept.slice(0, 210), '2020-01-01');
  await record(kept.slice(210), '2021-01-01');
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

t.test('recordings are neither removed nor forgotten while the spool is in trouble: its folder may be another one', async (t) => {
  const { db, engine, sweeper, transcriptions, record, left } = await hindered(t, { keepDays: 30, retentionDays: null });
  const [finished, kept, deleted] = (await transcriptions(3)) as [string, string, string];
  await record([finished, deleted]);
  await record([kept], '2020-01-01');
  await db.query('*', 'delete from transcriptions where id = ?', [deleted]);
  const known = async () => {
    const names = 'select id::text from transcriptions where media_key_sealed is not null union select name from spool_orphans';
    return (await db.query('*', names)).length;
  };
  Object.assign(engine.trouble, { reason: 'spool' });
  await sweeper.sweep();
  t.strictSame(await left(), [finished, kept, deleted].sort());
  t.equal(await known(), 3);
  Object.assign(engine.trouble, { reason: null });
  await sweeper.sweep();
  t.strictSame(await left(), []);
  t.equal(await known(), 0);
});

t.test('recordings of transcripts past their retention that cannot be removed keep back no others, and are removed later', async (t) => {
  const { db, bad, warnings, sweeper, transcriptions, record, left } = await hindered(t, { keepDays: 7, retentionDays: 30 });
  const ids = await transcriptions(40);
  await record(ids, '2100-01-01');
  for (const id of ids.slice(0, 10)) bad.add(id);
  await db.query(
    '*',
    `update transcriptions set created_at = now() - interval '31 days' + (array_position(?::uuid[], id)) * interval '1 minute'`,
    [ids],
  );
  await sweeper.tidy();
  t.strictSame(await db.query('*', 'select id from transcriptions'), []);
  t.strictSame(await left(), [...bad].sort());
  t.match(warnings.filter(({ count }) => count === 10).length, 1, 'one line');
  bad.clear();
  await sweeper.sweep();
  t.strictSame(await left(), []);
});

t.test('tidy() deletes all transcripts past their retention, however many they are', async (t) => {
  const { db, sweeper, transcriptions } = await hindered(t, { keepDays: 0, retentionDays: 30 });
  const [fresh] = await transcriptions(251);
  await db.query('*', `update transcriptions set created_at = now() - interval '31 days' where id <> ?`, [fresh]);
  await sweeper.tidy();
  t.strictSame(await db.query('*', 'select id from transcriptions'), [{ id: fresh }]);
});

t.test('expireTranscripts() reaches every workspace, beside one with very many expired transcripts', async (t) => {
  const { db, world } = await hindered(t, { keepDays: 0, retentionDays: 30 });
  const expired = async (count: number) => {
    const { id, workspaceId } = await world.member(await world.workspace(), { role: 'owner' });
    await db.query(
      '*',
      `insert into transcriptions (id, workspace_id, author_id, author_email, status, filename_sealed, extension, size_bytes, requested_language, created_at)
       select gen_random_uuid(), ?::uuid, ?::uuid, 'x', 'failed', 'x', 'mp3', 1, 'auto', now() - interval '31 days' from generate_series(1, ?::int)`,
      [workspaceId, id, count],
    );
    return workspaceId;
  };
  const [few, many, alsoFew] = [await expired(1), await expired(3000), await expired(1)];
  for (let batch = 0; batch < 25; batch++) await expireTranscripts(db, 30);
  t.strictSame(await db.query('*', 'select distinct workspace_id as id from transcriptions'), [{ id: many }], `not ${few}, ${alsoFew}`);
});

t.test('recordings of a deleted workspace that cannot be removed do not keep back its purge, and are removed later', async (t) => {
  const { db, bad, engine, member, sweeper, transcriptions, record, left } = await hindered(t, { keepDays: 7, retentionDays: null });
  const ids = await transcriptions(70); // more than a batch
  await record(ids.slice(0, 40));
  await record(ids.slice(40), '2100-01-01');
  for (const id of [...ids.slice(0, 5), ...ids.slice(-5)]) bad.add(id);
  await db.acrossTenants((tx) => deleteWorkspace(tx, member.workspaceId));
  for (let turn = 0; turn < 50 && (await db.query('*', 'select id from workspaces')).length; turn++)
    await purge(engine, member.workspaceId);
  t.strictSame(await db.query('*', 'select id from workspaces'), []);
  t.strictSame(await left(), [...bad].sort());
  bad.clear();
  await sweeper.sweep();
  t.strictSame(await left(), []);
});
