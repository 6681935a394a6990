import t from 'tap';
import { ROUTES } from '../../../api/v1/routes.ts';
import { claimReport, completeReport } from '../../../db/reports/work.ts';
import { testApi } from '../../support/api/client.ts';
import { send } from '../../support/api/uploads.ts';
import { openByHand } from '../../support/engine/byhand.ts';
import { ENDPOINTS } from '../codes.ts';

const api = await testApi(t);
const { db, vault, world } = api;
const hand = openByHand(api);

/** A workspace with a manager, whose calls a CRM uploads with a key of the owner. */
async function company() {
  const workspace = await world.workspace({ minutes: 10 });
  const owner = await world.member(workspace, { role: 'owner' });
  const manager = await world.member(workspace, { email: `${workspace}@example.com` });
  const { key } = await world.key(owner);
  return { workspace, owner, manager, key, managerKey: (await world.key(manager)).key };
}

t.test('1 a CRM uploads a call with its deal and manager, finds it by either, and reads its text and report', async (t) => {
  const { workspace, manager, key } = await company();
  const headers = { 'X-External-Id': 'deal-4711', 'X-Metadata': '{"stage":"won","call":7}', 'X-Author': `email:${manager.email}` };
  const { status, json } = await send(api.url, key, headers, '?reports=sales-call-review');
  t.equal(status, 201);
  t.equal(await hand.transcribe(workspace, json.uuid), 'completed');
  await completeReport(db, vault, (await claimReport(db, hand.engineId))!, 'They agreed on the price.');
  for (const query of ['external_id=deal-4711', 'metadata.stage=won', 'metadata.call=7&external_id=deal-4711'])
    t.match((await api.call(key, 'GET', `/v1/transcriptions?${query}`)).json, { items: [{ id: json.uuid }], total: 1 }, query);
  t.match((await api.call(key, 'GET', `/v1/transcriptions/${json.uuid}`)).json, {
    status: 'completed',
    text: '[00:00] Speaker 1: Hello there.\n[00:02] Speaker 2: Hi.',
    segments: [
      { start: 0.5, end: 2, speaker_id: 'speaker_1' },
      { start: 2.5, end: 4, speaker_id: 'speaker_2' },
    ],
    ...{ language: 'en', duration_seconds: 60, external_id: 'deal-4711', metadata: { stage: 'won', call: 7 }, author: { id: manager.id } },
    prompt_results: [{ slug: 'sales-call-review', status: 'completed', text: 'They agreed on the price.' }],
  });
});

t.test('1 minutes of the plan are charged for a file, the same with and without reports and the AI layer', async (t) => {
  for (const query of ['', '?ai_metadata=true', '?reports=summary,tasks']) {
    const { workspace, key } = await company();
    const { json } = await send(api.url, key, {}, query);
    await hand.transcribe(workspace, json.uuid, 90);
    for (let claim = await claimReport(db, hand.engineId); claim; claim = await claimReport(db, hand.engineId))
      await completeReport(db, vault, claim, 'Fine.');
    t.equal((await api.call(key, 'GET', '/v1/workspace')).json.balance.available_minutes, 8.5, query);
  }
});

t.test('1 transcripts, names and reports are not readable in the database; searchable fields are', async (t) => {
  const { owner, key } = await company();
  const secret = 'Rumpelstilzchen';
  const id = await world.transcription(owner, {
    ...{ filename: `${secret}.mp3`, title: secret, summary: secret, topics: [secret], externalId: 'plain-id', metadata: '{"plain":"key"}' },
    speakers: [{ id: 'speaker_1', ai_name: secret, name: secret }],
    turns: [{ start: 0, end: 1, speaker: 'speaker_1', text: secret, words: [[0, 1, secret]] }],
  });
  await world.report(id, 'summary', 'completed', secret);
  const record = (await api.call(key, 'GET', `/v1/transcriptions/${id}`)).text;
  t.ok(record.split(secret).length > 6, 'its members can read it');
  const tables = await db.query<{ name: string }>('*', `select tablename as name from pg_tables where schemaname = 'public'`);
  const rows = (name: string) => db.acrossTenants((tx) => tx.rows<{ text: string }>(`select t::text as text from ${name} t`));
  const stored = (await Promise.all(tables.map(({ name }) => rows(name)))).flat().map(({ text }) => text);
  const dump = stored.map((text) => text + Buffer.from(text.replace(/[^0-9a-f]/g, ''), 'hex').toString('latin1')).join('\n');
  t.notOk(
    dump.includes(secret) || dump.includes(Buffer.from(secret).toString('hex')) || dump.includes(Buffer.from(secret).toString('base64')),
  );
  t.ok(dump.includes('plain-id') && dump.includes('"plain"'));
});

t.test('1 deleting removes text and reports for all members', async (t) => {
  const { owner, manager, key, managerKey } = await company();
  const id = await world.transcription(owner, { author: manager });
  await world.report(id, 'summary', 'completed', 'Said.');
  for (const each of [key, managerKey]) t.equal((await api.call(each, 'GET', `/v1/transcriptions/${id}`)).status, 200);
  t.equal((await api.call(managerKey, 'DELETE', `/v1/transcriptions/${id}`)).status, 204);
  for (const each of [key, managerKey]) {
    for (const path of ['', '/export', '/subtitles']) t.equal((await api.call(each, 'GET', `/v1/transcriptions/${id}${path}`)).status, 404);
    t.equal((await api.call(each, 'GET', '/v1/transcriptions')).json.total, 0);
  }
});

t.test('1 every operation of the specification exists, and none of those that it leaves to the web app', async (t) => {
  // routes with the errors of another API are additions, and so are webhooks
  const served = ROUTES.filter(
    ({ path, hidden, refusals, tag }) => path.startsWith('/v1/') && !hidden && !refusals && tag !== 'Webhooks',
  ).map(({ method, path }) => `${method} ${path.slice(3)}`);
  t.strictSame(served.sort(), ENDPOINTS.map(([endpoint]) => endpoint).sort());
  const { owner, key } = await company();
  const id = await world.transcription(owner);
  for (const format of ['srt', 'docx', 'pdf'])
    t.match(await api.call(key, 'GET', `/v1/transcriptions/${id}/export?format=${format}`), { status: 422 }, format);
  const ask = () => api.call(key, 'POST', `/v1/transcriptions/${id}/reports`, { body: { reports: ['summary'] } });
  const first = (await ask()).json.reports[0].id;
  await completeReport(db, vault, (await claimReport(db, hand.engineId))!, 'Once.');
  t.match((await ask()).json.reports, [{ id: first, status: 'completed' }], 'a report is not generated again');
});
