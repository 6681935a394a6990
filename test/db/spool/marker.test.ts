import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openOwnSpool, openReceivingSpool } from '../../../db/spool/marker.ts';
import { testDatabase } from '../../support/database.ts';
import { openBench } from '../../support/work.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const FOREIGN = { code: 'EIO', message: /so it is not the spool of this installation/ };

/** Hosts of one installation, each with a place of its own choice. */
async function installation(t: Test) {
  const { db } = await testDatabase(t);
  const home = t.testdir();
  const settings = (place: string) => ({ LONGHAND_HOME: home, LONGHAND_MEDIA: join(home, place), S3_ENDPOINT: undefined });
  return {
    db,
    home,
    api: (place: string) => openReceivingSpool(db, settings(place), silent),
    engine: (place: string) => openOwnSpool(db, settings(place)),
    /** An engine that has asked for recordings a moment ago. */
    vouch: (trouble: string | null) =>
      db.query('*', `insert into engines (id, host, pid, last_poll, trouble) values (gen_random_uuid(), 'h', 1, now(), ?)`, [trouble]),
  };
}

t.test('the place that an API uses first is the spool; an engine that sees another folder knows that it is another', async (t) => {
  const { api, engine } = await installation(t);
  await t.resolves((await engine('share')).reachable(), 'nothing was accepted yet');
  const first = await api('share');
  await first.writable();
  await t.resolves((await engine('share')).reachable());
  await t.rejects((await engine('unmounted')).reachable(), FOREIGN);
});

t.test('an API does not put recordings where engines would not find them, while there is anything to lose', async (t) => {
  const { db, api, vouch } = await installation(t);
  const bench = await openBench(db);
  await (await api('share')).writable();
  await vouch(null);
  const stray = await api('unmounted');
  await t.rejects(stray.writable(), FOREIGN, 'an engine works on the other');
  await t.rejects(stray.create(randomUUID(), 'mp3'), FOREIGN);
  await db.query('*', 'delete from engines');
  const waiting = await bench.transcription(await bench.workspace());
  await t.rejects(stray.writable(), FOREIGN, 'a recording waits in the other');
  await db.query('*', 'delete from transcriptions where id = ?', [waiting]);
  await t.resolves(stray.writable(), 'nothing was there any more');
});

t.test('a new place is taken when nothing waits, and then the old one is the wrong one', async (t) => {
  const { api, engine, vouch } = await installation(t);
  const old = await api('old');
  await old.writable();
  await vouch('its spool is away: it has the new setting already');
  const next = await api('new');
  const id = randomUUID();
  await (await next.create(id, 'mp3')).finish();
  await t.resolves((await engine('new')).reachable());
  await t.rejects((await engine('old')).reachable(), FOREIGN);
});

t.test('a place that comes back is known again', async (t) => {
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

t.test('where the spool is lost permanently, the mark made by hand takes the new place, as the refusal says', async (t) => {
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
