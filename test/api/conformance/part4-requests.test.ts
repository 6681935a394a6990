import t from 'tap';
import { testApi } from '../../support/api/client.ts';
import { connectRaw, head, type RawAnswer } from '../../support/api/raw.ts';

const api = await testApi(t);
const { world } = api;
const workspace = await world.workspace();
const owner = await world.member(workspace, { role: 'owner' });
const { key } = await world.key(owner);
const id = await world.transcription(owner);
const call = (method: string, path: string, body?: unknown) => api.call(key, method, path, { body });

async function raw(text: string): Promise<RawAnswer> {
  const connection = await connectRaw(api.url);
  connection.write(text);
  return connection.answer().finally(() => connection.end());
}

t.test('paths: trailing, doubled and encoded slashes, another case and unknown words give 404 without a code, as JSON', async (t) => {
  const words = '/v1 /v2/workspace /V1/workspace /v1/Workspace /v1//workspace /v1/workspace/ /v1/workspace;x=1 /v1/transcriptions/';
  for (const path of [...words.split(' '), `/v1/transcriptions%2F${id}`, `/v1/transcriptions/${id}/`, `/v1/transcriptions/${id}/text`]) {
    const answer = await call('GET', path);
    t.match(answer, { status: 404, json: { code: null, message: String, detail: null, request_id: String } }, path);
    t.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
    t.equal(answer.headers['x-request-id'], answer.json.request_id);
  }
  t.equal((await call('GET', `/%76%31/transcriptions/${id.replace('-', '%2D')}`)).status, 200, 'an encoded letter equals the letter');
  t.equal((await call('GET', '/v1/workspace?')).status, 200);
});

t.test('methods: HEAD is GET without a body; others give 405 with every method of the path in Allow', async (t) => {
  const get = await call('GET', `/v1/transcriptions/${id}`);
  const without = await call('HEAD', `/v1/transcriptions/${id}`);
  t.match(without, { status: 200, text: '', headers: { etag: get.headers.etag, 'content-length': get.headers['content-length'] } });
  const allow: [string, string][] = [
    ['/v1/transcriptions', 'POST, GET, HEAD'],
    [`/v1/transcriptions/${id}`, 'GET, PATCH, DELETE, HEAD'],
    ['/v1/transcriptions/export', 'POST'],
    [`/v1/transcriptions/${id}/reports`, 'POST'],
    [`/v1/workspace/members/${owner.id}/identities`, 'PUT'],
    [`/v1/workspace/members/${owner.id}/identities/a/b`, 'DELETE'],
  ];
  for (const [path, methods] of allow) {
    for (const method of ['OPTIONS', 'TRACE', methods.includes('PUT') ? 'GET' : 'PUT']) {
      const answer = await call(method, path);
      t.match(answer, { status: 405, headers: { allow: methods }, json: { code: 'method_not_allowed' } }, `${method} ${path}`);
    }
  }
});

t.test('query: a known parameter that is repeated gives 422 in any spelling; unknown ones are ignored, even if repeated', async (t) => {
  for (const query of ['limit=1&limit=1', 'limit=1&%6Cimit=2', 'status=&status=', 'metadata.a=1&metadata%2Ea=1'])
    t.match(await call('GET', `/v1/transcriptions?${query}`), { status: 422, json: { code: 'validation_error' } }, query);
  for (const query of ['x=1&x=2', 'Limit=1&Limit=2', 'limit%20=1', '%zz=1', '=', '&&', 'external_id=%zz'])
    t.equal((await call('GET', `/v1/transcriptions?${query}`)).status, 200, query);
  const long = 'v'.repeat(20_000);
  t.match((await call('GET', `/v1/transcriptions?external_id=${long}&metadata.${long.slice(0, 5000)}=1`)).json, { items: [], total: 0 });
});

t.test('query: hundreds of metadata filters are answered as fast as three', async (t) => {
  const metadata = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`k${i}`, i]));
  await world.transcription(owner, { metadata: JSON.stringify(metadata), filename: 'many.mp3' });
  const filters = Object.entries(metadata).map(([name, value]) => `metadata.${name}=${value}`);
  t.match((await call('GET', `/v1/transcriptions?${filters.join('&')}`)).json, { items: [{ title: 'many.mp3' }], total: 1 });
  t.match((await call('GET', `/v1/transcriptions?${[...filters, 'metadata.other=1'].join('&')}`)).json, { items: [], total: 0 });
});

t.test('JSON bodies: nothing is silently dropped, and whatever cannot be read or stored gives 422', async (t) => {
  const bodies = [
    ...['', ' ', '{', '{"author":null', '{"author":null}x', "{'author':null}", 'null', '"x"', '[]', '7'],
    ...[
      '{"author":null,"more":1}',
      '{"author":null,"__proto__":{}}',
      '{"author":null,"author":null}',
      '{"author":null,"\\u0061uthor":null}',
    ],
    ...['{"author":"email:\\u0000"}', '{"author":"email:\\ud800@example.com"}', '{"\\udc00":1,"author":null}'],
    `${'['.repeat(100_000)}"\\u0000"${']'.repeat(100_000)}`,
    Buffer.from([0x7b, 0xff, 0x7d]),
    `{"author":null${' '.repeat(1_048_576)}}`,
  ];
  for (const body of bodies) {
    const answer = await call('PATCH', `/v1/transcriptions/${id}`, body);
    t.match(answer, { status: 422, json: { code: 'validation_error', detail: { errors: [{ field: String, message: String }] } } });
  }
  t.match(await call('POST', `/v1/transcriptions/${id}/reports`, '{"reports":["\\ud800"]}'), { status: 422 });
  t.match(await call('POST', '/v1/transcriptions/export', `{"ids":["${id}"],"ids":["${id}"]}`), { status: 422 });
  t.equal((await call('PATCH', `/v1/transcriptions/${id}`, '\ufeff {"author":\tnull}\n')).status, 200);
});

t.test('JSON bodies: chunked ones are accepted, and so is any Content-Type', async (t) => {
  const auth = { Authorization: `Bearer ${key}` };
  const chunks = 'a\r\n{"author":\r\n5\r\nnull}\r\n0\r\n\r\n';
  t.equal((await raw(head('PATCH', `/v1/transcriptions/${id}`, { ...auth, 'Transfer-Encoding': 'chunked' }) + chunks)).status, 200);
  const plain = { ...auth, 'Content-Length': 15, 'Content-Type': 'text/plain' };
  t.equal((await raw(`${head('PATCH', `/v1/transcriptions/${id}`, plain)}{"author":null}`)).status, 200);
});

t.test('an unexpected body does no harm', async (t) => {
  for (const method of ['GET', 'DELETE']) {
    const request = head(method, '/v1/transcriptions/none', { Authorization: `Bearer ${key}`, 'Content-Length': 5 });
    t.match(await raw(`${request}hello`), { status: 404, json: { code: null } });
  }
  const connection = await connectRaw(api.url);
  connection.write(head('HEAD', '/v1/workspace', { Authorization: `Bearer ${key}`, 'Content-Length': 5 })); // a body that is never sent
  t.match(await connection.closed(8_000), /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n$/, 'the response to HEAD has no body');
});

t.test('the HTTP parser answers malformed requests itself, with 400 or 505, and closes the connection', async (t) => {
  t.equal((await raw('GET /v1/workspace HTTP/1.0\r\n\r\n')).status, 505);
  t.equal((await raw('GET /v1/workspace HTTP/1.1\r\nAccept: */*\r\n\r\n')).status, 400, 'no Host');
  for (const length of ['-1', '+2048', '99999999999999999999', 'x'])
    t.equal((await raw(head('POST', '/v1/transcriptions', { 'Content-Length': length }))).status, 400, length);
  const both = { 'Content-Length': 5, 'Transfer-Encoding': 'chunked' };
  t.equal((await raw(head('POST', '/v1/transcriptions', both))).status, 400, 'both a length and chunks');
});
