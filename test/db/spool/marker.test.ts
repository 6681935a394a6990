import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openOwnSpool, openReceivingSpool } from '../../../db/spool/marker.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openBench } from '../../support/engine/work.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const FOREIGN = { code: 'EIO', message: /so it is not the spool of this installation/ };

/** Hosts of one installation, each with its own spool folder. */
async function installation(t: Test) {
  const { db } = await testDatabase(t);
  const home = t.testdir();
  const settings = (place: string) => ({ LONGHAND_HOME: home, LONGHAND_MEDIA: join(home, place), S3_ENDPOINT: undefined });
  return {
    db,
    home,
    api: (place: string) => openReceivingSpool(db, settings(place), silent),
    engine: (place: string) => openOwnSpool(db, settings(place)),
    /** Inserts an engine that has just polled for work. */
    addEngine: (trouble: string | null) =>
      db.query('*', `insert into engines (id, host, pid, last_poll, trouble) values (gen_random_uuid(), 'h', 1, now(), ?)`, [trouble]),
  };
}

t.test('markers: the folder that an API uses first becomes the spool, and an engine that sees another folder detects it', async (t) => {
  const { api, engine } = await installation(t);
  await t.resolves((await engine('share')).reachable(), 'before any upload');
  const first = await api('share');
  await first.writable();
  await t.resolves((await engine('share')).reachable());
  await t.rejects((await engine('unmounted')).reachable(), FOREIGN);
});

t.test('markers: an API does not write to an unknown folder while engines or waiting recordings use the known one', async (t) => {
  const { db, api, addEngine } = await installation(t);
  const bench = await openBench(db);
  await (await api('share')).writable();
  await addEngine(null);
  const unmounted = await api('unmounted');
  await t.rejects(unmounted.writable(), FOREIGN, 'an engine uses the other folder');
  await t.rejects(unmounted.create(randomUUID(), 'mp3'), FOREIGN);
  await db.query('*', 'delete from engines');
  const waiting = await bench.transcription(await bench.workspace());
  await t.rejects(unmounted.writable(), FOREIGN, 'a recording is waiting in the other folder');
  await db.query('*', 'delete from transcriptions where id = ?', [waiting]);
  await t.resolves(unmounted.writable(), 'the other folder is no longer in use');
});

t.test('markers: a new folder is accepted when no recording is waiting, and the old one is then rejected', async (t) => {
  const { api, engine, addEngine } = await installation(t);
  const old = await api('old');
  await old.writable();
  await addEngine('its spool is unavailable: it already has the new setting');
  const next = await api('new');
  const id = randomUUID();
  await (await next.create(id, 'mp3')).finish();
  await t.resolves((await engine('new')).reachable());
  await t.rejects((await engine('old')).reachable(), FOREIGN);
});

t.test('markers: a folder that becomes available again is recognised', async (t) => {
  const { home, api, engine } = await installation(t);
  const place = join(home, 'share');
  const [receiving, reading] = [await api('share'), await engine('share')];
  renameSync(place, `${place}-away`);
  await t.rejects(reading.reachable(), { code: 'EIO' });
  await t.rejects(receiving.create(randomUUID(), 'mp3'), { code: 'EIO' });
  renameSync(`${place}-away`, place);
  await t.resolves(reading.reachable());
  await (await receiving.create(randomUUID(), 'mp3')).abort();
});

t.test('markers: after a permanent loss, a marker made by hand accepts the new folder, as the error message says', async (t) => {
  const { db, home, api, engine } = await installation(t);
  const bench = await openBench(db);
  await (await api('lost')).writable();
  await bench.transcription(await bench.workspace());
  const next = await api('next');
  const refusal = await next.writable().catch((error: Error) => error.message);
  mkdirSync(join(home, 'next', /\.longhand-\S+$/.exec(String(refusal).replace(/ here$/, ''))![0]));
  await t.resolves(next.writable());
  await t.resolves((await engine('next')).reachable());
});
