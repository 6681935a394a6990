import t from 'tap';
import { startApp } from '../../../api/app.ts';
import { openLog } from '../../../db/ops/log.ts';
import type { Db } from '../../../db/postgres/orm.ts';
import { testApi } from '../../support/api/client.ts';
import { FILE, send } from '../../support/api/uploads.ts';

const api = await testApi(t);
const { key } = await api.world.key(await api.world.member(await api.world.workspace(), { role: 'owner' }));
const accepted = () => api.db.query<{ id: string }>('*', `select id from transcriptions where status = 'queued'`);

/** A database whose connection is lost once a recording is committed, before the API learns of it. */
const losing: Db = {
  ...api.db,
  async workspace(owner, work) {
    const { length } = await accepted();
    const done = await api.db.workspace(owner, work);
    if ((await accepted()).length > length) throw Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });
    return done;
  },
};
const host = await startApp({ ...api, db: losing, log: openLog(api.settings, 'api') });
t.teardown(() => host.stop(1));

const form = Buffer.concat([
  Buffer.from('--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n'),
  Buffer.from('--x\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n'),
  FILE,
  Buffer.from('\r\n--x--\r\n'),
]);
const headers = { authorization: `Bearer ${key}`, 'content-type': 'multipart/form-data; boundary=x' };
const WAYS: Record<string, () => Promise<{ status: number }>> = {
  'POST /v1/transcriptions': () => send(host.url, key),
  'POST /v1/audio/transcriptions': () => fetch(`${host.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form }),
};

for (const [route, upload] of Object.entries(WAYS))
  t.test(`${route} keeps the file if it cannot know whether its commit succeeded`, async (t) => {
    const before = new Set((await accepted()).map(({ id }) => id));
    t.equal((await upload()).status, 503);
    const rows = (await accepted()).filter(({ id }) => !before.has(id));
    t.equal(rows.length, 1, 'it has succeeded');
    const stored: string[] = [];
    for await (const { id } of api.spool.list()) stored.push(id);
    t.ok(stored.includes(rows[0]!.id));
  });
