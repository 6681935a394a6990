import { randomUUID } from 'node:crypto';
import t from 'tap';
import { abandoned, deletedMedia, forgetOrphans, listPlace, noteOrphans, setListPlace } from '../../../db/jobs/orphans.ts';
import { sweepUploads } from '../../../db/uploads/accept.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openBench } from '../../support/engine/work.ts';

const { db } = await testDatabase(t);
const bench = await openBench(db);
const mp3 = (id: string) => ({ id, extension: 'mp3' });

/** Inserts the slot of an upload whose lease ends after these seconds. */
const slot = (id: string, workspace: string, seconds: number) =>
  db.query(
    '*',
    `insert into upload_leases (id, workspace_id, node_id, extension, lease_until) values (?, ?, gen_random_uuid(), 'mp3', now() + ? * interval '1 second')`,
    [id, workspace, seconds],
  );

t.test('abandoned() returns files that two checks some time apart found unreferenced', async (t) => {
  const workspace = await bench.workspace();
  const [stray, part, waiting, uploading] = [randomUUID(), randomUUID(), await bench.transcription(workspace), randomUUID()];
  await slot(uploading, workspace, 60);
  await noteOrphans(db, [mp3(stray), { id: part, extension: 'mp3.part' }, mp3(waiting), mp3(uploading)]);
  t.strictSame(await abandoned(db, 30), [], 'seen a moment ago');
  await db.query('*', `update spool_orphans set seen_at = seen_at - interval '31 seconds'`);
  await noteOrphans(db, [mp3(stray)]);
  await slot(part, workspace, 60); // accepted between the two checks
  t.strictSame(await abandoned(db, 30), [mp3(stray)]);
  await forgetOrphans(db, [mp3(stray)]);
  t.strictSame(await db.query('*', 'select name from spool_orphans'), []);
  await db.query('*', 'delete from upload_leases');
});

t.test('deletedMedia() returns the files of uploads whose process was killed, without a list of the spool', async (t) => {
  const workspace = await bench.workspace();
  const [killed, alive, late] = [randomUUID(), randomUUID(), randomUUID()];
  await slot(killed, workspace, -1);
  await slot(alive, workspace, 60);
  await slot(late, workspace, -1);
  await bench.transcription(workspace, { media: { ...mp3(late), key: Buffer.alloc(32), bytes: 1 } }); // accepted a moment before its slot is swept
  await sweepUploads(db, null);
  const names = (await deletedMedia(db)).map(({ id, extension }) => `${id}.${extension}`);
  t.strictSame(names.sort(), [`${killed}.mp3`, `${killed}.mp3.part`]);
});

t.test('a slot whose file has no name yet announces no file', async (t) => {
  const workspace = await bench.workspace();
  for (const extension of ['', null]) {
    const id = randomUUID();
    await slot(id, workspace, -1);
    await db.query('*', 'update upload_leases set extension = ? where id = ?', [extension, id]);
  }
  await db.query('*', 'delete from spool_orphans');
  await sweepUploads(db, null);
  t.strictSame(await deletedMedia(db), []);
});

t.test('listPlace() returns what setListPlace() stored for the whole fleet', async (t) => {
  t.equal(await listPlace(db), null);
  await setListPlace(db, 'a.mp3');
  t.equal(await listPlace(db), 'a.mp3');
  await setListPlace(db, null);
  t.equal(await listPlace(db), null);
});
