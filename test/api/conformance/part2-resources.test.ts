import t from 'tap';
import { ListItem, Transcription } from '../../../api/contract/transcription.ts';
import { testApi } from '../../support/api/client.ts';

const api = await testApi(t);
const { world } = api;
const workspace = await world.workspace({ name: 'Acme', minutes: 12.349 });
const anna = await world.member(workspace, { role: 'owner', name: 'Anna', email: 'anna@example.com' });
const { key } = await world.key(anna);
const get = (path: string) => api.call(key, 'GET', `/v1${path}`);

const FULL =
  'id title status summary language duration_seconds media_type project author speakers topics text segments prompt_results external_id metadata error_code required_minutes available_minutes created_at updated_at'.split(
    ' ',
  );
const LIGHT =
  'id title summary language duration_seconds media_type project author speakers topics external_id metadata created_at updated_at'.split(
    ' ',
  );

t.test('2.1 the full record of a completed transcription has exactly the published fields', async (t) => {
  const project = await world.project(workspace, 'Sales');
  const metadata = '{"big": 12345678901234567890,"n":1.50, "z":{"a":[true,null]},"e":1e2}';
  const id = await world.transcription(anna, { projectId: project, externalId: 'deal 7', metadata, language: 'en', filename: 'Call.mp3' });
  const { status, json, text } = await get(`/transcriptions/${id}`);
  t.equal(status, 200);
  t.strictSame(Object.keys(json), FULL);
  t.ok(Transcription.safeParse(json).success);
  t.match(json, {
    id,
    title: 'Call.mp3',
    status: 'completed',
    summary: null,
    language: 'en',
    duration_seconds: 4.2,
    media_type: 'audio',
    project: { id: project, name: 'Sales' },
    author: { id: anna.id, email: 'anna@example.com', name: 'Anna' },
    topics: null,
    external_id: 'deal 7',
    error_code: null,
    required_minutes: null,
    available_minutes: null,
    prompt_results: [],
  });
  t.ok(text.includes(`"metadata":${metadata},`), 'metadata comes back byte for byte');
  t.match(json.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

t.test('2.1 text has one line per segment; unnamed speakers are Speaker 1, Speaker 2 by first appearance', async (t) => {
  const id = await world.transcription(anna);
  const { json } = await get(`/transcriptions/${id}`);
  t.equal(json.text, '[00:00] Speaker 1: Hello there.\n[00:02] Speaker 2: Hi.');
  t.strictSame(json.speakers, [
    { id: 'speaker_1', name: 'Speaker 1' },
    { id: 'speaker_2', name: 'Speaker 2' },
  ]);
  for (const line of json.text.split('\n')) t.match(line, /^\[\d{2,}:\d{2}\] [^:]+: /);
});

t.test('2.1 an undiarized transcription has no speakers, and Speaker 1 on every line', async (t) => {
  const turns = [
    { start: 0, end: 1, speaker: null, text: 'One.' },
    { start: 4_503.2, end: 4_504, speaker: null, text: 'Two.' },
  ];
  const { json } = await get(`/transcriptions/${await world.transcription(anna, { speakers: [], turns, duration: 4_505 })}`);
  t.equal(json.text, '[00:00] Speaker 1: One.\n[75:03] Speaker 1: Two.');
  t.match(json, { speakers: [], segments: [{ speaker_id: null, speaker_name: null }, { speaker_id: null }] });
});

t.test('2.1 an empty transcript is completed and has an empty text', async (t) => {
  const { json } = await get(`/transcriptions/${await world.transcription(anna, { speakers: [], turns: [] })}`);
  t.match(json, { status: 'completed', text: '', segments: [], language: null });
});

t.test('2.1 before completion, text is null and segments are empty; error_code and minutes belong to their statuses', async (t) => {
  for (const status of ['queued', 'processing', 'failed', 'insufficient_balance'] as const) {
    const id = await world.transcription(anna, { status, errorCode: 'FILE_CORRUPTED', required: 10.001, available: 7.999 });
    const { json } = await get(`/transcriptions/${id}`);
    t.match(json, { status, text: null, segments: [], speakers: [], summary: null, media_type: null });
    t.equal(json.error_code, status === 'failed' ? 'FILE_CORRUPTED' : null);
    t.equal(json.required_minutes, status === 'insufficient_balance' ? 10.01 : null, 'shown rounded up');
    t.equal(json.available_minutes, status === 'insufficient_balance' ? 7.99 : null, 'shown rounded down');
    const open = status === 'queued' || status === 'processing';
    t.strictSame(Object.keys(json), open ? [...FULL, 'progress'] : FULL);
  }
});

t.test('2.2 segments count from 1 across all blocks, keep the diarization id, and show the name that a person gave', async (t) => {
  const turns = Array.from({ length: 401 }, (_, i) => ({ start: i, end: i + 0.5, speaker: `speaker_${(i % 2) + 1}`, text: `Turn ${i}.` }));
  const speakers = [
    { id: 'speaker_1', ai_name: 'Ann', name: 'Anna: B' },
    { id: 'speaker_2', ai_name: 'Bob', name: null },
  ];
  const { json } = await get(`/transcriptions/${await world.transcription(anna, { turns, speakers, duration: 401 })}`);
  t.strictSame(
    json.segments.map((segment: { id: number }) => segment.id),
    turns.map((_, i) => i + 1),
  );
  t.strictSame(json.segments[0], { id: 1, start: 0, end: 0.5, speaker_id: 'speaker_1', speaker_name: 'Anna: B', text: 'Turn 0.' });
  t.equal(json.segments[1].speaker_name, 'Bob');
  t.strictSame(json.speakers, [
    { id: 'speaker_1', name: 'Anna: B' },
    { id: 'speaker_2', name: 'Bob' },
  ]);
  t.ok(json.text.startsWith('[00:00] Anna B: Turn 0.\n'), 'a colon in a name becomes a space in the text');
});

t.test('2.3 reports show their text when completed and their error when failed, in the order they were requested', async (t) => {
  const id = await world.transcription(anna);
  for (const status of ['completed', 'failed', 'processing', 'queued'] as const)
    await world.report(id, `a-${status}`, status, status === 'completed' ? 'It went well.' : undefined);
  const { json } = await get(`/transcriptions/${id}`);
  t.match(json.prompt_results, [
    { slug: 'a-completed', status: 'completed', text: 'It went well.', error_code: null, completed_at: /Z$/ },
    { slug: 'a-failed', status: 'failed', text: null, error_code: 'INTERNAL_ERROR', completed_at: null },
    { slug: 'a-processing', status: 'processing', text: null },
    { slug: 'a-queued', status: 'queued', text: null },
  ]);
  t.strictSame(Object.keys(json.prompt_results[0]), 'id slug name status error_code text created_at completed_at'.split(' '));
});

t.test('2.4 a list item has exactly the summary fields: no text, no segments, no status', async (t) => {
  await world.transcription(anna, { summary: 'They spoke.', topics: ['Price', 'Time'], title: 'A talk', externalId: 'light' });
  const { json } = await get('/transcriptions?external_id=light');
  t.strictSame(Object.keys(json), ['items', 'total', 'limit', 'offset']);
  t.strictSame(Object.keys(json.items[0]), LIGHT);
  t.ok(ListItem.strict().safeParse(json.items[0]).success);
  t.match(json.items[0], { title: 'A talk', summary: 'They spoke.', topics: [{ title: 'Price' }, { title: 'Time' }] });
});

t.test('2.5 templates: built-in ones with their category, then custom ones with their scope', async (t) => {
  await world.template(workspace, 'call-review');
  const { json } = await get('/prompts');
  t.strictSame(json.prompts[0], { slug: 'summary', name: 'Summary', kind: 'builtin', scope: null, description: 'General' });
  t.ok(json.prompts.some((template: { slug: string }) => template.slug === 'tasks'));
  t.strictSame(json.prompts.at(-1), { slug: 'call-review', name: 'call-review', kind: 'custom', scope: 'workspace', description: null });
});

t.test('2.8 workspace info has exactly the published fields; minutes are net of reservations and rounded down', async (t) => {
  const id = await world.transcription(anna, { status: 'processing' });
  await api.db.acrossTenants((tx) =>
    tx.rows('insert into reservations (transcription_id, workspace_id, minutes) values (?, ?, 2.0001)', [id, workspace]),
  );
  const { json } = await get('/workspace');
  t.strictSame(json, {
    workspace: { id: workspace, name: 'Acme' },
    balance: { available_minutes: 10.34 },
    limits: { max_file_size_mb: 2048, concurrency: 4, max_duration_hours: 10, reports_per_upload: 3, reports_per_day: 300 },
    key: {
      scopes: ['read', 'uploads:write', 'transcriptions:delete', 'reports:write', 'members:write', 'webhooks:write'],
      expires_at: null,
    },
  });
});
