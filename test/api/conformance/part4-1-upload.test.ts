import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { EXTENSIONS } from '../../../api/contract/formats.ts';
import { LANGUAGES } from '../../../api/contract/languages.ts';
import { openDb } from '../../../db/postgres/orm.ts';
import { testApi } from '../../support/api/client.ts';
import { provokes } from '../../support/api/provokes.ts';
import { connectRaw, head } from '../../support/api/raw.ts';
import { FILE, type Headers, knock, send, uploadHeaders } from '../../support/api/uploads.ts';
import { eventually } from '../../support/processes/service.ts';

const POST = 'POST /transcriptions';
const name = (file: string) => ({ 'Content-Disposition': `attachment; filename="${file}"` });

const api = await testApi(t);
const workspace = await api.world.workspace();
const owner = await api.world.member(workspace, { role: 'owner', email: 'anna@example.com', name: 'Anna' });
const member = await api.world.member(workspace, { email: 'ben@example.com' });
const pending = await api.world.member(workspace, { email: 'carla@example.com', status: 'pending' });
const foreign = await api.world.member(await api.world.workspace(), { email: 'zoe@example.com' });
const { key } = await api.world.key(owner);
const { key: memberKey } = await api.world.key(member);
const { key: writer } = await api.world.key(owner, ['read', 'uploads:write']);
const { key: reader } = await api.world.key(owner, ['read', 'reports:write']);
const closed = await api.world.project(workspace, 'Closed');
const open = await api.world.project(workspace, 'Open');
await api.world.join(open, member, 'editor');
await api.world.join(closed, member, 'viewer');
await api.world.template(workspace, 'draft-one', { owner, draft: true });
const free = await api.world.key(await api.world.member(await api.world.workspace({ plan: 'free' }), { role: 'owner' }));
const poor = await api.world.key(await api.world.member(await api.world.workspace({ minutes: 0 }), { role: 'owner' }));

/** Names of the waiting jobs, as the owner of the database sees them. */
const jobs = async () => {
  const admin = await openDb({ url: api.db.url, pool: 1 });
  const found = await admin.direct('select task_identifier as name from graphile_worker.jobs order by id');
  await admin.close();
  return found.map(({ name }) => String(name));
};
const rows = async (table: string) =>
  Number((await api.db.acrossTenants((tx) => tx.row<{ n: string }>(`select count(*) as n from ${table}`)))!.n);

t.test('POST /transcriptions refuses before the body, in the published order, and stores nothing', async (t) => {
  const uuid = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
  const cases: [ReturnType<typeof provokes>, string, Headers, string][] = [
    [provokes(POST, 401, 'unauthorized'), 'nonsense', {}, ''],
    [provokes(POST, 401, 'unauthorized'), key, {}, '?api_key=x'],
    [provokes(POST, 401, 'unauthorized'), key, {}, `?x=${key}`],
    [provokes(POST, 403, 'api_access_required'), free.key, {}, ''],
    [provokes(POST, 403, 'upload_scope_required'), reader, {}, ''],
    [provokes(POST, 411, 'length_required'), key, { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' }, ''],
    [provokes(POST, 411, 'length_required'), key, { 'Content-Length': undefined, 'Content-Disposition': undefined }, ''],
    [provokes(POST, 400, 'filename_required'), key, { 'Content-Disposition': undefined }, '?filename=call.mp3'],
    [provokes(POST, 400, 'filename_required'), key, { 'Content-Disposition': 'attachment', 'Content-Length': 0 }, ''],
    [provokes(POST, 400, 'unsupported_file_format'), key, { ...name('call.txt'), 'Content-Length': 0 }, ''],
    [provokes(POST, 400, 'file_too_small'), key, { 'Content-Length': 1 }, '?language=xx'],
    [provokes(POST, 400, 'filename_required'), key, { 'Content-Disposition': undefined, 'Content-Type': 'multipart/form-data' }, ''],
    [provokes(POST, 400, 'filename_required'), key, { 'Content-Disposition': 'attachment', 'Content-Type': 'multipart/form-data' }, ''],
    [provokes(POST, 400, 'filename_required'), key, { 'Content-Disposition': "attachment; filename*=UTF-8''%ff.mp3" }, ''],
    [provokes(POST, 400, 'unsupported_file_format'), key, name('call.mp3.exe'), ''],
    [provokes(POST, 400, 'unsupported_file_format'), key, { 'Content-Type': 'multipart/form-data; boundary=x' }, ''],
    [provokes(POST, 400, 'file_too_small'), key, { 'Content-Length': 1023 }, ''],
    [provokes(POST, 400, 'file_too_small'), key, { 'Content-Length': 0 }, ''],
    [provokes(POST, 413, 'file_size_limit_exceeded'), key, { 'Content-Length': 2147483649 }, ''],
    [provokes(POST, 422, 'validation_error'), key, {}, '?language=en-US'],
    [provokes(POST, 422, 'validation_error'), key, {}, '?language=jv'],
    [provokes(POST, 422, 'validation_error'), key, {}, '?language=en&language=de'],
    [provokes(POST, 422, 'validation_error'), key, {}, '?language=%E2%84%AAo'], // the Kelvin sign is not a k
    ...['language', 'project_id', 'diarize', 'speakers_count', 'ai_metadata'].map(
      (field): [ReturnType<typeof provokes>, string, Headers, string] =>
        [provokes(POST, 422, 'validation_error'), ...[key, {}, `?${field}=`]] as never,
    ),
    [provokes(POST, 422, 'validation_error'), key, {}, '?project_id=7'],
    [provokes(POST, 422, 'project_not_found'), key, {}, '?project_id=11111111-1111-1111-1111-111111111111'],
    [provokes(POST, 422, 'project_not_found'), key, {}, `?project_id=${uuid(1)}&diarize=perhaps`],
    [provokes(POST, 422, 'project_not_found'), memberKey, {}, `?project_id=${closed}`],
    [provokes(POST, 422, 'validation_error'), key, {}, '?diarize=yes'],
    [provokes(POST, 422, 'validation_error'), key, {}, '?speakers_count=21'],
    [provokes(POST, 422, 'validation_error'), key, {}, '?speakers_count=0&diarize=false'],
    [provokes(POST, 422, 'validation_error'), key, {}, '?speakers_count=2.5'],
    [provokes(POST, 422, 'validation_error'), key, { 'X-External-Id': 'x'.repeat(129) }, '?ai_metadata=2'],
    [provokes(POST, 422, 'external_id_too_long'), key, { 'X-External-Id': 'x'.repeat(129) }, ''],
    [provokes(POST, 422, 'external_id_invalid'), key, { 'X-External-Id': 'größe' }, ''],
    [provokes(POST, 422, 'external_id_invalid'), key, { 'X-External-Id': '' }, ''],
    [provokes(POST, 422, 'external_id_invalid'), key, { 'X-External-Id': key }, ''],
    [provokes(POST, 422, 'external_id_invalid'), key, { 'X-External-Id': 'é', 'X-Metadata': '[' }, ''],
    [provokes(POST, 422, 'metadata_too_large'), key, { 'X-Metadata': `{"a":"${'x'.repeat(4096)}"}` }, ''],
    [provokes(POST, 422, 'metadata_invalid_json'), key, { 'X-Metadata': '{', 'X-Author': 'nobody' }, ''],
    [provokes(POST, 422, 'metadata_invalid_json'), key, { 'X-Metadata': '' }, ''],
    [provokes(POST, 422, 'metadata_not_object'), key, { 'X-Metadata': '[]' }, ''],
    [provokes(POST, 422, 'metadata_key_too_long'), key, { 'X-Metadata': `{"${'k'.repeat(65)}":1}` }, ''],
    [provokes(POST, 422, 'metadata_key_invalid'), key, { 'X-Metadata': '{"a":1,"a":2}' }, ''],
    [provokes(POST, 422, 'metadata_too_deep'), key, { 'X-Metadata': '{"a":[[[1]]]}' }, ''],
    [provokes(POST, 422, 'metadata_value_invalid'), key, { 'X-Metadata': '{"a":"\\u0000"}' }, ''],
    [provokes(POST, 422, 'invalid_author'), key, { 'X-Author': 'anna@example.com' }, '?reports=a,b,c,d'],
    [provokes(POST, 422, 'invalid_author'), key, { 'X-Author': '' }, ''],
    [provokes(POST, 422, 'unsupported_author_type'), key, { 'X-Author': 'phone:1' }, ''],
    [provokes(POST, 422, 'author_not_member'), key, { 'X-Author': 'email:nobody@example.com' }, ''],
    [provokes(POST, 422, 'author_not_member'), key, { 'X-Author': `email:${foreign.email}` }, ''],
    [provokes(POST, 422, 'author_not_member'), key, { 'X-Author': `user:${foreign.id}` }, ''],
    [provokes(POST, 422, 'author_not_member'), key, { 'X-Author': `user:${pending.id}` }, ''],
    [provokes(POST, 422, 'author_not_member'), key, { 'X-Author': 'external:crm:7' }, ''],
    [provokes(POST, 403, 'reports_scope_required'), writer, {}, '?reports=a,b,c,d'],
    [provokes(POST, 403, 'reports_scope_required'), writer, {}, '?reports=&reports='],
    [provokes(POST, 422, 'validation_error'), key, {}, '?reports=&reports='],
    [provokes(POST, 422, 'too_many_reports'), key, {}, '?reports=a,b,c,d'],
    [provokes(POST, 422, 'prompt_not_found'), key, { 'Idempotency-Key': 'ü' }, '?reports=summary,no-such'],
    [provokes(POST, 422, 'prompt_not_found'), key, {}, '?reports=draft-one'],
    [provokes(POST, 422, 'validation_error'), key, {}, '?reports=summary&reports=tasks'],
    [provokes(POST, 422, 'idempotency_key_invalid'), poor.key, { 'Idempotency-Key': 'x'.repeat(256) }, ''],
    [provokes(POST, 422, 'idempotency_key_invalid'), poor.key, { 'Idempotency-Key': '' }, ''],
    [provokes(POST, 402, 'insufficient_balance'), poor.key, {}, ''],
    [provokes(POST, 402, 'insufficient_balance'), poor.key, { 'Content-Length': 1024 }, '?reports=,%20,'], // an empty list counts as no list
    [provokes(POST, 402, 'insufficient_balance'), poor.key, { 'Content-Length': 2147483648 }, '?unknown=1&unknown=2'],
  ];
  for (const [expected, caller, headers, query] of cases) {
    const answer = await knock(api.url, caller, headers, query);
    const label = `${expected.status} ${expected.json.code} for ${JSON.stringify(headers).slice(0, 60)} ${query}`;
    t.match(answer, expected, label);
    t.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8', label);
    t.equal(answer.headers.get('x-request-id'), answer.json.request_id, label);
    t.strictSame(Object.keys(answer.json), ['code', 'message', 'detail', 'request_id'], label);
  }
  for (const table of ['transcriptions', 'idempotency_keys', 'upload_leases', 'reports']) t.equal(await rows(table), 0, table);
});

t.test('POST /transcriptions says what to send instead of a form, with a Content-Disposition and without one', async (t) => {
  for (const more of [{ 'Content-Disposition': undefined }, {}]) {
    const { json } = await knock(api.url, key, { ...more, 'Content-Type': 'multipart/form-data; boundary=x' });
    t.match(json.message, /multipart form \(curl -F\).*--data-binary.*Content-Disposition.*\/v1\/audio\/transcriptions/);
  }
});

t.test('POST /transcriptions names the unknown slug and the invalid fields', async (t) => {
  t.strictSame((await knock(api.url, key, {}, '?reports=Summary,%20No-Such%20,other')).json.detail, { slug: 'no-such' });
  const { detail } = (await knock(api.url, key, {}, '?language=xx')).json;
  t.equal(detail.errors[0].field, 'language');
});

t.test('POST /transcriptions refuses a header that is sent twice instead of silently dropping one', async (t) => {
  const twice: [string, string, string, string?][] = [
    ['Content-Length', String(2048), 'length_required'],
    ['Content-Disposition', 'attachment; filename="b.mp3"', 'filename_required'],
    ['Content-Disposition', 'attachment; filename="a', 'filename_required', 'b.mp3"'], // joined with a comma they are a name
    ['X-External-Id', 'deal-1', 'external_id_invalid'],
    ['X-Metadata', '{}', 'metadata_invalid_json'],
    ['X-Metadata', '{"a":1', 'metadata_invalid_json', '"b":2}'], // joined with a comma they are JSON
    ['X-Author', 'email:anna@example.com', 'invalid_author'],
    ['Idempotency-Key', 'k', 'idempotency_key_invalid'],
    ['Authorization', `Bearer ${key}`, 'unauthorized'],
  ];
  for (const [header, value, code, second = value] of twice) {
    const connection = await connectRaw(api.url);
    const headers = Object.entries(uploadHeaders(key, { [header]: value })).map(([n, v]) => [n, String(v)] as [string, string]);
    connection.write(head('POST', '/v1/transcriptions', [...headers, [header, second]]));
    t.equal((await connection.answer()).json.code, code, header);
    connection.end();
  }
});

t.test('POST /transcriptions accepts each of the 73 extensions and 99 languages', async (t) => {
  t.equal(EXTENSIONS.size, 73);
  t.equal(LANGUAGES.length, 99);
  const stopped = { 'X-Author': 'nobody' }; // the check after name and language
  for (const extension of EXTENSIONS) {
    t.equal((await knock(api.url, key, { ...stopped, ...name(`A.${extension.toUpperCase()}`) })).json.code, 'invalid_author', extension);
  }
  for (const language of ['auto', 'AUTO', ...LANGUAGES, 'HAW']) {
    t.equal((await knock(api.url, key, stopped, `?language=${language}`)).json.code, 'invalid_author', language);
  }
});

t.test('POST /transcriptions stores the requested options, and returns metadata byte for byte', async (t) => {
  await api.db.acrossTenants((tx) =>
    tx.rows(`insert into identities (workspace_id, member_id, provider, external_id) values (?, ?, 'crm', ' Agent:7')`, [
      workspace,
      member.id,
    ]),
  );
  const metadata = '{"b": 12345678901234567890, "a":1.50,"n":{"x":[null,true,"é\\u00e9"]}}';
  const answer = await send(
    api.url,
    memberKey,
    {
      'X-External-Id': 'Deal 42: =x',
      'X-Metadata': metadata,
      'X-Author': 'external:CRM: Agent:7',
      'Content-Disposition': `attachment; filename="x.wav"; filename*=UTF-8''..%2F%2E%2E%2Fgr%C3%B6%C3%9Fe%0d%0a.M4A`,
    },
    `?language=DE&project_id=${open.toUpperCase()}&diarize=0&speakers_count=20&ai_metadata=1&reports=tasks,%20Summary,,tasks&unknown=ignored`,
  );
  t.equal(answer.status, 201);
  t.strictSame(Object.keys(answer.json), ['uuid', 'status', 'reports']);
  t.match(answer.json, {
    status: 'queued',
    reports: [
      { slug: 'tasks', status: 'queued' },
      { slug: 'summary', status: 'queued' },
    ],
  });
  const record = await api.call(memberKey, 'GET', `/v1/transcriptions/${answer.json.uuid}`);
  t.match(record.json, {
    ...{ title: 'größe.M4A', status: 'queued', language: 'de', external_id: 'Deal 42: =x', duration_seconds: null, media_type: null },
    ...{ author: { id: member.id, email: 'ben@example.com' }, project: { id: open, name: 'Open' } },
  });
  t.ok(record.text.includes(`"metadata":${metadata},`));
  const row = await api.db.acrossTenants((tx) =>
    tx.row('select diarize, speakers_count, ai_metadata, extension, size_bytes, media_bytes from transcriptions where id = ?', [
      answer.json.uuid,
    ]),
  );
  t.strictSame(row, { diarize: false, speakers_count: 20, ai_metadata: true, extension: 'm4a', size_bytes: '2048', media_bytes: '2048' });
  t.strictSame(await jobs(), ['probe']);
});

t.test('POST /transcriptions stores a zero in X-Metadata however it is written', async (t) => {
  const metadata = '{"a":0e99999999999,"b":[-0.00E-99999,"0e99999"],"c":10e2,"d":1.0e2,"e":0e0}';
  const answer = await send(api.url, key, { 'X-Metadata': metadata });
  t.equal(answer.status, 201);
  t.ok((await api.call(key, 'GET', `/v1/transcriptions/${answer.json.uuid}`)).text.includes(`"metadata":${metadata},`));
  for (const filter of ['a=0e99999999999', 'b=0e99999', 'c=10e2']) {
    const { json } = await api.call(key, 'GET', `/v1/transcriptions?status=queued&metadata.${filter}`);
    t.strictSame([json.total, json.items[0]?.id], [1, answer.json.uuid], filter);
  }
  const row = await api.db.acrossTenants((tx) => tx.row('select metadata from transcriptions where id = ?', [answer.json.uuid]));
  t.strictSame(row, { metadata: { a: 0, b: [0, '0e99999'], c: 1000, d: 100, e: 0 } });
});

t.test('POST /transcriptions stores the file although a template was deleted during the upload', async (t) => {
  await api.world.template(workspace, 'doomed');
  const connection = await connectRaw(api.url);
  connection.write(head('POST', '/v1/transcriptions?reports=doomed,summary', uploadHeaders(key)));
  connection.write(FILE.subarray(0, 1000));
  await eventually(async () => (await rows('upload_leases')) > 0, 'a slot');
  await api.db.acrossTenants((tx) => tx.rows(`delete from templates where slug = 'doomed'`));
  connection.write(FILE.subarray(1000));
  const answer = await connection.answer();
  connection.end();
  t.match(answer, { status: 201, json: { reports: [{ slug: 'doomed', status: 'queued' }, { slug: 'summary' }] } });
  const record = await api.call(key, 'GET', `/v1/transcriptions/${answer.json.uuid}`);
  t.match(record.json.prompt_results, [{ slug: 'doomed', name: 'doomed', status: 'queued' }, { slug: 'summary' }]);
});

t.test('POST /transcriptions says to try again if its workspace is deleted during the upload, then that the key is unknown', async (t) => {
  const gone = await api.world.workspace();
  const { key: last } = await api.world.key(await api.world.member(gone, { role: 'owner' }), ['read', 'uploads:write']);
  const connection = await connectRaw(api.url);
  connection.write(head('POST', '/v1/transcriptions', uploadHeaders(last)));
  connection.write(FILE.subarray(0, 1000));
  await eventually(async () => (await rows('upload_leases')) > 0, 'a slot');
  await api.db.acrossTenants((tx) => tx.rows('delete from workspaces where id = ?::uuid', [gone]));
  connection.write(FILE.subarray(1000));
  t.match(await connection.answer(), { status: 503, json: { code: 'service_unavailable' } });
  connection.end();
  const next = await send(api.url, last); // the key is cached for another second
  t.ok([503, 401].includes(next.status), `${next.status}`);
  await sleep(1000);
  t.equal((await send(api.url, last)).status, 401);
});

t.test('POST /transcriptions accepts an OAuth token within its scopes', async (t) => {
  const { key: token } = await api.world.token(owner, ['read', 'uploads:write']);
  t.equal((await send(api.url, token)).status, 201);
  t.match(await knock(api.url, token, {}, '?reports=summary'), provokes(POST, 403, 'reports_scope_required'));
});
