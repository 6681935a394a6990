/* Template previews: the request from the console, the work of the courier, and what is stored afterwards. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { SessionActor } from '../../../api/contract/actor.ts';
import { LIMITS } from '../../../api/contract/limits.ts';
import { claimPreview, endPreview, forgetPreviews, readPreview, startPreview } from '../../../db/reports/previews.ts';
import type { Courier } from '../../../engine/courier/courier.ts';
import { nextPreview } from '../../../engine/courier/preview.ts';
import { openWriter, type Writer } from '../../../engine/reports/writer.ts';
import { openHoldings } from '../../../engine/tasks/holdings.ts';
import { tokenOf } from '../../support/api/actors.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openWorld, type Person } from '../../support/databases/world.ts';
import { openBench } from '../../support/engine/work.ts';
import { startLlm } from '../../support/servers/llm-server.ts';

const { db } = await testDatabase(t);
const { vault } = await openBench(db);
const world = openWorld(db, vault);
const note = () => {};
const log = { debug: note, info: note, warn: note, error: note };
const holdings = openHoldings(db, log);
t.teardown(() => holdings.close());

const workspace = await world.workspace();
const anna = await world.member(workspace, { role: 'owner' });
const bert = await world.member(workspace);
const stranger = await world.member(await world.workspace());
const viewer = (person: Person) => tokenOf(person, person === anna ? 'owner' : 'user');
const start = (
  person: Person,
  transcriptionId: string | null,
  prompt: string | null = 'List the prices that were named.',
  slug = 'draft',
) => db.workspace(person.workspaceId, (tx) => startPreview(tx, viewer(person), { slug, name: 'Prices', prompt, transcriptionId }));
const read = (person: Person, id: string | null) => readPreview(db, vault, viewer(person), id ?? '');
const courierWith = (writer: Writer): Courier => ({ id: randomUUID(), db, vault, log, holdings, writer, privateWebhooks: false });
const work = async (writer: Writer = openWriter({})) => (await nextPreview(courierWith(writer)))?.();

t.test('preview of the sample uses the report writer, and only the member who requested it can read it', async (t) => {
  const id = await start(anna, null);
  t.match(await read(anna, id), { id, status: 'queued', text: null, writer: null });
  await work();
  const { status, text, writer } = (await read(anna, id))!;
  t.match({ status, writer }, { status: 'completed', writer: 'built-in' });
  t.match(text, /1,900 euros/, 'the passages closest to the template');
  t.equal(await read(bert, id), null);
  t.equal(await read(stranger, id), null);
  const [row] = await db.query<{ text_sealed: Buffer }>('*', 'select text_sealed from previews');
  t.notOk(row!.text_sealed.includes('euros'), 'encrypted like a report');
});

t.test('preview of a transcription requires one that is completed and visible to the member', async (t) => {
  const own = await world.transcription(bert, {
    turns: [{ start: 0, end: 9, speaker: 'speaker_1', text: 'The lamp for the hall costs ninety euros, and we decided to buy it.' }],
  });
  const id = await start(bert, own, null, 'decisions');
  t.equal(await start(anna, await world.transcription(bert, { status: 'processing' })), null);
  t.equal(await start(bert, await world.transcription(anna)), null);
  t.equal(await start(stranger, own), null);
  t.equal(await start(bert, 'no-id'), null);
  const limited = { ...viewer(anna), kind: 'session', limited: true } as unknown as SessionActor;
  const wanted = { slug: 'decisions', name: 'Decisions', prompt: null, transcriptionId: own };
  await t.rejects(
    db.workspace(workspace, (tx) => startPreview(tx, limited, wanted)),
    { code: 'forbidden' },
    'a session with fewer rights',
  );
  await work();
  t.match(await read(bert, id), { status: 'completed', text: /lamp for the hall/ });
  t.strictSame(await db.query('*', 'select 1 from reports'), [], 'it is not stored as a report');
});

t.test('preview: a new one replaces the old one, whose model call is cancelled', async (t) => {
  const server = await startLlm((_, index) => (index === 0 ? { delay: 60_000 } : {}));
  t.teardown(server.close);
  const writer = openWriter({ baseUrl: server.url });
  const first = await start(anna, null);
  const working = work(writer);
  while (server.calls.length === 0) await sleep(20);
  const second = await start(anna, null);
  t.not(second, first);
  await working; // ends long before the response: its heartbeats find no row
  while (server.left === 0) await sleep(20); // the server sees the client disconnect
  t.equal(await read(anna, first), null);
  await work(writer);
  t.match(await read(anna, second), { status: 'completed', writer: 'test-model' });
});

t.test('preview requests are limited per day like reports, for all members of a workspace together', async (t) => {
  const owner = await world.member(await world.workspace(), { role: 'owner' });
  const limits = { ...LIMITS, REPORTS_PER_DAY: 2 };
  const wanted = { slug: 'draft', name: 'Prices', prompt: 'List the prices that were named.', transcriptionId: null };
  const next = () => db.workspace(owner.workspaceId, (tx) => startPreview(tx, tokenOf(owner), wanted, limits));
  for (let n = 0; n < 2; n++) t.ok(await next());
  const refused = await next().catch((error: unknown) => error);
  t.match(refused, { code: 'daily_reports_quota_exceeded' });
  t.ok((refused as { retryAfterSeconds: number }).retryAfterSeconds > 0);
  await db.query('*', 'delete from previews where workspace_id = ?', [owner.workspaceId]);
});

t.test('preview failures are reported immediately, with their code', async (t) => {
  const server = await startLlm(() => ({ status: 401 }));
  t.teardown(server.close);
  const id = await start(anna, null);
  await work(openWriter({ baseUrl: server.url }));
  t.match(await read(anna, id), { status: 'failed', error_code: 'LLM_UNAVAILABLE', text: null });
  const unknown = await start(anna, null, null, 'no-such-slug');
  await work();
  t.match(await read(anna, unknown), { status: 'failed', error_code: 'TEMPLATE_UNAVAILABLE' });
});

t.test('preview whose courier died is taken over by another, fails if that one dies too, and is deleted after ten minutes', async (t) => {
  const id = await start(anna, null);
  const dies = async () => {
    const claim = (await claimPreview(db, randomUUID()))!;
    t.equal(claim.lease.id, id);
    t.equal(await claimPreview(db, randomUUID()), null, 'no other courier takes it meanwhile');
    await db.query('*', `update leases set until = clock_timestamp() - interval '1 second' where subject = ?`, [id]);
    return claim;
  };
  const dead = await dies();
  await dies();
  t.equal(await endPreview(db, vault, dead, { code: 'LLM_TIMEOUT' }), false, 'the first one was only slow');
  t.match(await read(anna, id), { status: 'processing' });
  t.equal(await claimPreview(db, randomUUID()), null);
  await forgetPreviews(db);
  t.match(await read(anna, id), { status: 'failed', error_code: 'INTERNAL_ERROR' });
  await db.query('*', `update previews set created_at = clock_timestamp() - interval '11 minutes'`);
  await forgetPreviews(db);
  t.equal(await read(anna, id), null);
});

t.test('claimPreview() passes over a preview that another courier is claiming', async (t) => {
  const hers = await start(anna, null);
  const his = await start(bert, null);
  await db.acrossTenants(async (tx) => {
    await tx.rows('select 1 from previews where id = ?::uuid for update', [hers]);
    t.equal((await claimPreview(db, randomUUID()))?.lease.id, his);
    t.equal(await claimPreview(db, randomUUID()), null);
  });
  t.equal((await claimPreview(db, randomUUID()))?.lease.id, hers);
});
