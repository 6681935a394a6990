import t from 'tap';
import { LIMITS } from '../../../api/contract/limits.ts';
import { testApi } from '../../support/api/client.ts';
import { type Headers, knock, send } from '../../support/api/uploads.ts';

const api = await testApi(t);
const { world } = api;
const owner = await world.member(await world.workspace(), { role: 'owner' });
const { key } = await world.key(owner);

t.test('8 the limits are the published ones', async (t) => {
  t.match(LIMITS, {
    ...{ MIN_FILE_BYTES: 1024, MAX_FILE_BYTES: 2 ** 31, MIN_DURATION_S: 1, MAX_DURATION_S: 10 * 3600 },
    ...{ UPLOAD_STALL_S: 60, UPLOAD_TOTAL_S: 90 * 60, UPLOADS_PER_KEY: 10, UPLOADS_PER_WORKSPACE: 16, IDEMPOTENCY_HOURS: 24 },
    ...{ EXTERNAL_ID_CHARACTERS: 128, METADATA_BYTES: 4096, METADATA_KEY_CHARACTERS: 64, METADATA_DEPTH: 3, SPEAKERS: 20 },
    ...{ REPORTS_PER_REQUEST: 3, REPORTS_PER_DAY: 300, REPORTS_WAITING: 200, REPORTS_PER_TRANSCRIPTION: 30 },
    ...{ PAGE: 100, PAGE_DEFAULT: 20, EXPORT_IDS: 100, DELETES_PER_MIN: 30, MEMBERS_LISTED: 1000 },
    ...{ PROVIDER_CHARACTERS: 32, IDENTITY_CHARACTERS: 128, QUEUED_FILES: 500, UPLOADS_PER_DAY: 20_000 },
  });
});

t.test('8 values just within a limit of an upload are accepted, values just beyond it are refused', async (t) => {
  const filled = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`;
  const edges: [Headers, string, string | null][] = [
    [{ 'X-External-Id': 'x'.repeat(128) }, '', null],
    [{ 'X-External-Id': 'x'.repeat(129) }, '', 'external_id_too_long'],
    [{ 'X-External-Id': ' ' }, '', 'external_id_invalid'], // the HTTP parser trims it to nothing
    [{ 'X-External-Id': '!~' }, '', null],
    [{ 'X-Metadata': filled(4096) }, '', null],
    [{ 'X-Metadata': filled(4097) }, '', 'metadata_too_large'],
    [{ 'X-Metadata': `{"${'é'.repeat(64)}":1}` }, '', null],
    [{ 'X-Metadata': `{"${'é'.repeat(65)}":1}` }, '', 'metadata_key_too_long'],
    [{ 'X-Metadata': '{"a":{"b":[1]}}' }, '', null],
    [{ 'X-Metadata': '{"a":{"b":[[]]}}' }, '', 'metadata_too_deep'],
    [{}, '?speakers_count=1', null],
    [{}, '?speakers_count=20', null],
    [{}, '?speakers_count=21', 'validation_error'],
    [{}, '?reports=summary,tasks,quotes', null],
    [{}, '?reports=summary,tasks,quotes,decisions', 'too_many_reports'],
    [{ 'Idempotency-Key': 'k'.repeat(255) }, '', null],
    [{ 'Idempotency-Key': 'k'.repeat(256) }, '', 'idempotency_key_invalid'],
  ];
  for (const [headers, query, code] of edges) {
    const label = `${JSON.stringify(headers).slice(0, 40)} ${query}`;
    if (code) t.match(await knock(api.url, key, headers, query), { status: 422, json: { code } }, label);
    else t.equal((await send(api.url, key, headers, query)).status, 201, label);
  }
  t.equal((await send(api.url, key, {}, '', Buffer.alloc(1024))).status, 201);
  t.match(await knock(api.url, key, { 'Content-Length': 1023 }), { status: 400, json: { code: 'file_too_small' } });
  t.match(await knock(api.url, key, { 'Content-Length': 2 ** 31 + 1 }), { status: 413, json: { code: 'file_size_limit_exceeded' } });
});
