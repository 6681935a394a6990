/* Errors of the endpoint as the official client reports them, and their effects on the database. No engine runs, so nothing completes. */
import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI, { toFile } from 'openai';
import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { connectRaw } from '../../support/api/raw.ts';
import { eventually } from '../../support/processes/service.ts';

const api = await testApi(t, { LONGHAND_WAIT_S: '1', LONGHAND_LIMIT_MAX_FILE_BYTES: '100000' });
const owner = await api.world.member(await api.world.workspace(), { role: 'owner' });
const { key } = await api.world.key(owner);
const broke = await api.world.member(await api.world.workspace({ minutes: 0 }), { role: 'owner' });
const clientOf = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${api.url}/v1` });
const client = clientOf(key);
const FILE = Buffer.alloc(4096, 7);
const create = (more: object = {}, bytes: Buffer = FILE, name = 'call.mp3', by = client) =>
  toFile(bytes, name).then((file) => by.audio.transcriptions.create({ file, model: 'whisper-1', ...more } as never));
const refusalOf = (asked: Promise<unknown>) =>
  asked.then(
    () => null,
    (error: InstanceType<typeof OpenAI.APIError>) => error,
  );
const waiting = async () => (await api.call(key, 'GET', '/v1/transcriptions?status=queued')).json.items as { id: string; title: string }[];
const places = () => api.db.acrossTenants((tx) => tx.rows('select 1 from upload_leases'));

t.test('POST /v1/audio/transcriptions refuses in the format that the official client reads, and leaves nothing behind', async (t) => {
  const [reading, empty] = [(await api.world.key(owner, ['read'])).key, (await api.world.key(broke)).key];
  const cases: [() => Promise<unknown>, object][] = [
    [
      () => create({ response_format: 'xml' }),
      { status: 400, code: 'invalid_form', param: 'response_format', type: 'invalid_request_error' },
    ],
    [() => create({ language: 'tlh' }), { status: 400, code: 'invalid_form', param: 'language' }],
    [() => create({ timestamp_granularities: ['word'] }), { status: 400, code: 'invalid_form', param: 'timestamp_granularities[]' }],
    [() => create({ stream: true }), { status: 400, code: 'stream_unsupported', param: 'stream' }],
    [() => create({}, FILE, 'notes.txt'), { status: 400, code: 'unsupported_file_format' }],
    [() => create({}, Buffer.alloc(100)), { status: 400, code: 'file_too_small' }],
    [() => create({}, Buffer.alloc(150_000)), { status: 413, code: 'file_size_limit_exceeded' }],
    [() => create({}, Buffer.alloc(3_000_000)), { status: 413, code: 'file_size_limit_exceeded' }],
    [() => create({}, FILE, 'a.mp3', clientOf('lh_wrong')), { status: 401, code: 'unauthorized', type: 'authentication_error' }],
    [() => create({}, FILE, 'a.mp3', clientOf(reading)), { status: 403, code: 'upload_scope_required' }],
    [() => create({}, FILE, 'a.mp3', clientOf(empty)), { status: 402, code: 'insufficient_balance' }],
  ];
  for (const [asked, wanted] of cases) t.match(await refusalOf(asked()), wanted, JSON.stringify(wanted));
  const json = await api.call(key, 'POST', '/v1/audio/transcriptions', { body: { file: 'x' } });
  t.match(json, { status: 400, json: { error: { code: 'invalid_form', param: 'file' } } }, 'no form');
  for (const body of ['--x\r\n\r\n', '--x--\r\n', 'nonsense', '']) {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    t.match(
      await api.call(key, 'POST', '/v1/audio/transcriptions', { body, headers }),
      { status: 400, json: { error: { code: 'invalid_form' } } },
      body,
    );
  }
  t.strictSame(await waiting(), []);
  t.strictSame(await places(), []);
  for await (const { id } of api.spool.list()) t.fail(`${id} is left in the spool`);
  const announced = await api.db.query<{ name: string }>('*', 'select name from spool_orphans');
  for (const { name } of announced) t.match(name, /^[0-9a-f-]{36}\.mp3(\.part)?$/, 'the sweeper can only remove files that have names');
});

t.test('a form that ends within its file, in a single packet, leaves no file', async (t) => {
  const form = `--x\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n${'a'.repeat(4096)}`;
  const headers = { 'content-type': 'multipart/form-data; boundary=x' };
  for (let i = 0; i < 5; i++)
    t.match(await api.call(key, 'POST', '/v1/audio/transcriptions', { body: form, headers }), {
      status: 400,
      json: { error: { code: 'invalid_form' } },
    });
  for await (const { id, extension } of api.spool.list()) t.fail(`${id}.${extension} is left in the spool`);
});

t.test('a transcript that is not ready in time gives 504 with its id, is not sent again, and continues', async (t) => {
  const error = await refusalOf(create({ response_format: 'text' }, FILE, 'Звонок.mp3'));
  t.match(error, { status: 504, code: 'transcription_timeout' });
  const left = await waiting();
  t.equal(left.length, 1, 'the client did not send it again');
  t.match(error!.message, left[0]!.id);
  t.equal(left[0]!.title, 'Звонок.mp3');
  t.equal((await api.call(key, 'DELETE', `/v1/transcriptions/${left[0]!.id}`)).status, 204);
});

t.test('a client that disconnects, while sending or while waiting, leaves nothing behind', async (t) => {
  const patient = await testApi(t);
  const person = await patient.world.member(await patient.world.workspace(), { role: 'owner' });
  const own = (await patient.world.key(person)).key;
  const stop = new AbortController();
  const file = await toFile(FILE, 'call.mp3');
  const leaving = new OpenAI({ apiKey: own, baseURL: `${patient.url}/v1` });
  const asked = refusalOf(leaving.audio.transcriptions.create({ file, model: 'any' }, { signal: stop.signal }));
  const queued = async () => (await patient.call(own, 'GET', '/v1/transcriptions?status=queued')).json.total as number;
  while ((await queued()) !== 1) await sleep(50);
  stop.abort();
  await asked;
  await eventually(async () => !(await queued()), 'the deletion of the transcription');

  const half = await connectRaw(patient.url);
  half.write(
    `POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${own}\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 100000\r\n\r\n` +
      `--x\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n${'a'.repeat(5000)}`,
  );
  const held = () => patient.db.acrossTenants((tx) => tx.rows('select extension from upload_leases'));
  await eventually(async () => (await held())[0]?.extension === 'mp3', 'a slot that names the file, which is removed with it after a kill');
  half.end(true);
  await eventually(async () => !(await held()).length, 'the release of its slot');
  for await (const { id } of patient.spool.list()) t.fail(`${id} is left in the spool`);
  t.equal(await queued(), 0);
});

t.test('requests beyond the upload slots of a key wait for one, and none is refused', async (t) => {
  const others = Array.from({ length: 10 }, (_, i) => `00000000-0000-4000-8000-00000000000${i}`); // uploads in progress take all slots
  const { keyId, workspaceId } = (await api.db.acrossTenants((tx) =>
    tx.row<{ keyId: string; workspaceId: string }>(
      `select id as "keyId", workspace_id as "workspaceId" from api_keys where member_id = ?::uuid`,
      [owner.id],
    ),
  ))!;
  await api.db.acrossTenants((tx) =>
    tx.rows(
      `insert into upload_leases (id, workspace_id, key_id, node_id, reports, lease_until)
       select l::uuid, ?::uuid, ?::uuid, l::uuid, 0, clock_timestamp() + interval '2 seconds' from unnest(?::text[]) l`,
      [workspaceId, keyId, others],
    ),
  );
  const patient = new OpenAI({ apiKey: key, baseURL: `${api.url}/v1`, maxRetries: 0 });
  const seen = await Promise.all(Array.from({ length: 20 }, () => refusalOf(create({}, FILE, 'call.mp3', patient))));
  t.strictSame([...new Set(seen.map((error) => error?.status))], [504], 'received, but there is no engine');
  t.strictSame(await places(), []);
});

t.test('GET /v1/models lists the configured model, and the name that clients use by default', async (t) => {
  const names = [];
  for await (const model of client.models.list()) names.push(model.id);
  t.strictSame(names, ['whisper-base', 'whisper-1']);
  t.match(await client.models.retrieve('whisper-1'), { id: 'whisper-1', object: 'model', owned_by: 'longhand' });
  t.match(await refusalOf(client.models.retrieve('gpt-17')), { status: 404, code: 'model_not_found' });
});

t.test('a form with unusual parts is read or refused at once, and holds no slot', async (t) => {
  const headers = { 'content-type': 'multipart/form-data; boundary=x' };
  const data = (name: string) => `Content-Disposition: form-data; name="${name}"`;
  const [model, audio] = [`${data('model')}\r\n\r\nw`, 'a'.repeat(40_000)];
  const file = `${data('file')}; filename="a.mp3"\r\n\r\n${audio}`;
  const fields = Array.from({ length: 40 }, (_, at) => `${data(`f${at}`)}\r\n\r\n1`);
  const cases: [string, string[], number, object][] = [
    ['another file before it', [model, `${data('cover')}; filename="c.png"\r\n\r\n${audio}`, file], 504, {}],
    ['another file after it', [model, file, `${data('cover')}; filename="c.png"\r\n\r\n${audio}`], 504, {}],
    ['an attachment', [model, `Content-Disposition: attachment; filename="a.mp3"\r\n\r\n${audio}`], 400, { message: 'file is missing' }],
    ['a part without a disposition', [model, `Content-Type: audio/mpeg\r\n\r\n${audio}`], 400, { message: 'file is missing' }],
    [
      'a file without a name',
      [model, `${data('file')}\r\nContent-Type: audio/mpeg\r\n\r\n${audio}`],
      400,
      { message: /without a file name/ },
    ],
    ['too many fields', [...fields, model, file], 400, { message: 'The form has more than 40 fields' }],
  ];
  const cut = `--x\r\n${data('cover')}; filename="c.png"\r\n\r\n${audio}`;
  t.match(await api.call(key, 'POST', '/v1/audio/transcriptions', { body: cut, headers }), { status: 400 }, 'it ends within another file');
  for (const [what, parts, status, error] of cases) {
    const body = `${parts.map((part) => `--x\r\n${part}\r\n`).join('')}--x--\r\n`;
    t.match(await api.call(key, 'POST', '/v1/audio/transcriptions', { body, headers }), { status, json: { error } }, what);
  }
  t.strictSame(await places(), []);
});
