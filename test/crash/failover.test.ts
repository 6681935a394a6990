/*
 * PostgreSQL fails over while an engine works: the former primary accepts no more writes, but keeps its connections; then the address leads
 * to the new primary, which has its data.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startEmbedded } from '../../db/postgres/embedded.ts';
import { openDb } from '../../db/postgres/orm.ts';
import { send } from '../support/api/uploads.ts';
import { aftermath } from '../support/databases/aftermath.ts';
import { movingDatabase } from '../support/databases/moving-database.ts';
import { conversation, excerpt, type TranscriptionRow } from '../support/engine/engine.ts';
import { TINY } from '../support/engine/models.ts';
import { openService } from '../support/processes/service.ts';

const KEY_MS = 90_000; // for which an upload that lost the database in its middle may hold its key
const READ_ONLY_MS = 20_000; // longer than the interval of heartbeats

const folder = t.testdir();
const [first, second] = [join(folder, 'first'), join(folder, 'second')];
const database = await movingDatabase(t, first);

/** Makes the primary refuse writes on all its connections. */
async function demote(): Promise<void> {
  const address = new URL(database.server.url);
  const password = readFileSync(join(first, 'superuser-password'), 'utf8');
  Object.assign(address, { username: 'postgres', password, pathname: '/postgres' });
  const superuser = await openDb({ url: address.href, pool: 1 });
  await superuser.direct('alter system set default_transaction_read_only = on');
  await superuser.direct('select pg_reload_conf()');
  await superuser.close();
}

/** Starts the new primary. */
async function promote(): Promise<void> {
  await database.server.stop();
  execFileSync('cp', ['-a', first, second]); // its files belong to another account
  rmSync(join(second, 'data', 'postgresql.auto.conf'));
  database.server = await startEmbedded(second);
}

t.test('PostgreSQL may fail over: uploads get 503 with Retry-After, and the work continues on the new primary', async (t) => {
  const service = await openService(t, { database, model: TINY });
  const [api, engine] = [await service.api(), await service.engine()];
  const [long, short] = [await conversation(8), await excerpt()];
  const upload = (name: string, bytes: Buffer) =>
    send(api.url, service.key, { 'Idempotency-Key': name, 'Content-Disposition': 'attachment; filename="call.wav"' }, '?diarize=0', bytes);
  const id = String((await upload('first', long)).json.uuid);
  await service.until<TranscriptionRow>(id, ({ fraction }) => fraction > 0.1, 240);
  await demote();
  for (const end = Date.now() + READ_ONLY_MS; Date.now() < end; await sleep(1000)) {
    const refused = await upload('second', short);
    t.equal(refused.status, 503, refused.body);
    t.match(refused.headers.get('retry-after'), /^[1-9]\d*$/);
  }
  await promote();
  await service.until<TranscriptionRow>(id, ({ status }) => status === 'completed', 240);
  let accepted = await upload('second', short);
  for (const end = Date.now() + KEY_MS; accepted.status === 409 && Date.now() < end; await sleep(1000))
    accepted = await upload('second', short);
  t.equal(accepted.status, 201, accepted.body);
  await service.until<TranscriptionRow>(String(accepted.json.uuid), ({ status }) => status === 'completed', 240);
  await aftermath(t, service);
  t.equal(await engine.stop(), 0);
  t.equal(await api.stop(), 0);
});
