/* The journey of a recording with the client of @hey-api/openapi-ts: BASE (with /v1), KEY, FILE. */
import assert from 'node:assert';
import { openAsBlob } from 'node:fs';
import { client } from './client.gen.js';
import {
  deleteTranscription,
  exportTranscription,
  getTranscription,
  listTranscriptions,
  requestReports,
  uploadTranscription,
} from './sdk.gen.js';

client.setConfig({ baseUrl: process.env.BASE, auth: process.env.KEY });
const strict = { throwOnError: true } as const;
const deal = `hey-${crypto.randomUUID()}`;

async function main(): Promise<void> {
  const { data: made } = await uploadTranscription({
    ...strict,
    headers: { 'Content-Disposition': 'attachment; filename="call.wav"', 'X-Metadata': JSON.stringify({ deal }) },
    query: { language: 'en' },
    body: await openAsBlob(process.env.FILE!),
  });
  const path = { id: made.uuid };
  const read = async (query = {}) => (await getTranscription({ ...strict, path, query })).data;
  let record = await read({ wait: 30 });
  while (record.status === 'queued' || record.status === 'processing') record = await read({ wait: 30 });
  assert.deepEqual([record.status, record.id], ['completed', made.uuid]);
  assert.ok((await read({ words: true })).segments![0]!.words![0]!.confidence! > 0);
  const { data: page } = await listTranscriptions({ ...strict, query: { metadata: { deal } } });
  assert.deepEqual(
    page.items.map((item) => item.id),
    [made.uuid],
  );
  const { data: file } = await exportTranscription({ ...strict, path, query: { format: 'md' }, parseAs: 'blob' });
  assert.match(await (file as Blob).text(), /## Transcript/);
  await requestReports({ ...strict, path, body: { reports: ['summary'] } });
  const report = async () => (await read()).prompt_results[0]!;
  while (['queued', 'processing'].includes((await report()).status)) await new Promise((resolve) => setTimeout(resolve, 500));
  assert.ok((await report()).text);
  assert.equal((await deleteTranscription({ ...strict, path })).response.status, 204);
  const gone = await getTranscription({ path });
  assert.ok(gone.response?.status === 404 && gone.error?.code === null);
  console.log('ok');
}

void main();
