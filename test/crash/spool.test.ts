/*
 * The spool fails while the service runs: a share that is not mounted (leaving an empty folder), a read-only one, or one from which a single
 * recording is missing. An S3 server that goes down is tested in test/deploy/s3.test.ts.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { send } from '../support/api/uploads.ts';
import { aftermath } from '../support/databases/aftermath.ts';
import { conversation, excerpt, type TranscriptionRow } from '../support/engine/engine.ts';
import { TINY } from '../support/engine/models.ts';
import { noDisks } from '../support/processes/disk.ts';
import type { Running } from '../support/processes/processes.ts';
import { type Api, eventually, impatient, openService, tidily } from '../support/processes/service.ts';

const skip = noDisks() ?? false;
const TOKEN = 'a-token-for-the-monitor';
const WAV = { 'Content-Disposition': 'attachment; filename="call.wav"' };
const UNREADABLE = 'the spool cannot be read';
const PLAIN = '?diarize=0';
const service = await openService(t, { model: TINY });
const { db, key } = service;
const media = { LONGHAND_MEDIA: join(service.home, 'share'), LONGHAND_METRICS: 'public', LONGHAND_METRICS_TOKEN: TOKEN };
const wav = await excerpt();
const parts: { api?: Api; engine?: Running } = {}; // of the first test, if disks can be mounted here
t.teardown(() => execFileSync('sh', ['-c', `umount --lazy '${media.LONGHAND_MEDIA}' 2>/dev/null || true`]));

t.test('engine whose share is not mounted reports it, waits and continues, without using up attempts', { skip }, async (t) => {
  const [disk, share] = [join(service.home, 'disk'), media.LONGHAND_MEDIA];
  for (const folder of [disk, share]) mkdirSync(folder);
  const mount = (...options: string[]) => execFileSync('mount', [...options, disk, share]);
  const unmount = () => execFileSync('umount', ['--lazy', share]);
  const recordings = (folder: string) => readdirSync(folder).filter((name) => !name.startsWith('.'));
  mount('--bind');
  const api = (parts.api = await service.api(media));
  const upload = async () => (await send(api.url, key, WAV, PLAIN, wav)).json.uuid as string;
  const ids = [await upload(), await upload()];
  impatient(t, service);
  const page = async () => (await fetch(`${api.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })).text();
  const ready = async () => (await fetch(`${api.url}/readyz`)).json() as Promise<{ status: string; spool: boolean; engines: number }>;

  unmount();
  const engine = (parts.engine = await service.engine(media));
  t.match(engine.output.stderr, /the spool cannot be read; no recordings are claimed until it can/);
  await eventually(async () => /^longhand_engine_trouble\{.*\} 1$/m.test(await page()), 'the metric of the trouble');
  t.match(await ready(), { status: 'unready', spool: false, engines: 0 });
  const refused = await send(api.url, key, WAV, '', wav);
  t.match({ status: refused.status, code: refused.json?.code }, { status: 503, code: 'service_unavailable' });
  t.match(refused.headers.get('retry-after'), /^[1-9]\d*$/);
  t.strictSame(readdirSync(share), [], 'nothing is written to the wrong folder');
  for (const id of ids) t.match(await service.row('transcriptions', id), { status: 'queued', attempt: 0, deaths: 0, lease_token: null });

  mount('--bind');
  for (const id of ids) t.match(await service.until<TranscriptionRow>(id, ({ status }) => status === 'completed'), { deaths: 0 });
  t.match(engine.output.stderr, /the spool is readable again/);
  await eventually(() => !recordings(disk).length, 'the removal of the recordings');

  const long = (await send(api.url, key, WAV, PLAIN, await conversation(40))).json.uuid as string;
  await service.until<TranscriptionRow>(long, ({ fraction }) => fraction > 0.2);
  unmount(); // during work that no longer needs the spool
  const queued = await eventually(async () => (await ready()).spool === false, 'the API to notice').then(() => long);
  t.match(await service.until<TranscriptionRow>(queued, ({ status }) => status === 'completed', 240), { deaths: 0, attempt: 1 });

  mount('--bind');
  await eventually(async () => (await ready()).spool, 'ready again');
  const last = await upload();
  tidily(t, service);
  execFileSync('mount', ['-o', 'remount,bind,ro', share]);
  t.match(
    await service.until<TranscriptionRow>(last, ({ status }) => status === 'completed'),
    { deaths: 0 },
    'a read-only spool suffices for transcription',
  );
  t.match(await send(api.url, key, WAV, '', wav), { status: 503, json: { code: 'service_unavailable' } });
  execFileSync('mount', ['-o', 'remount,bind,rw', share]);
  await eventually(() => !recordings(disk).length, 'the sweep of files that could not be removed');

  t.equal((await db.query('*', 'select 1 from ledger where minutes < 0')).length, ids.length + 2);
  await aftermath(t, service);
});

t.test('engine fails a recording missing from an intact spool with ENGINE_ERROR, and the others do not wait for it', async (t) => {
  const api = parts.api ?? (await service.api(media));
  const engine = parts.engine ?? (await service.engine(media));
  const reported = engine.output.stderr.split(UNREADABLE).length;
  const file = { id: randomUUID(), extension: 'wav', key: randomBytes(32), bytes: wav.length };
  const missing = await service.transcription(service.workspaceId, { seconds: null, media: file });
  const good = (await send(api.url, key, WAV, PLAIN, wav)).json.uuid as string;
  await service.until<TranscriptionRow>(good, ({ status }) => status === 'completed');
  impatient(t, service);
  t.match(await service.until<TranscriptionRow>(missing, ({ status }) => status === 'failed'), {
    error_code: 'ENGINE_ERROR',
    attempt: 4,
  });
  t.equal(engine.output.stderr.split(UNREADABLE).length, reported, 'the spool was not the reason');
  await aftermath(t, service);
  t.equal(await engine.stop(), 0);
});
