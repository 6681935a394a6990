/* The journey of a recording with the axios client of orval: BASE (with /v1), KEY, FILE. */
import assert from 'node:assert';
import { openAsBlob } from 'node:fs';
import { type Error as ErrorBody, getLonghand } from './client.js';

const key = { Authorization: `Bearer ${process.env.KEY}` };
const options = { baseURL: process.env.BASE, headers: key };
const client = getLonghand();
const deal = `orval-${crypto.randomUUID()}`;

async function main(): Promise<void> {
  const headers = {
    ...key,
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': 'attachment; filename="call.wav"',
    'X-Metadata': JSON.stringify({ deal }),
  };
  const { uuid } = (await client.uploadTranscription(await openAsBlob(process.env.FILE!), { language: 'en' }, { ...options, headers }))
    .data;
  const read = async (query = {}) => (await client.getTranscription(uuid, query, options)).data;
  let record = await read({ wait: 30 });
  while (record.status === 'queued' || record.status === 'processing') record = await read({ wait: 30 });
  assert.deepEqual([record.status, record.id], ['completed', uuid]);
  assert.ok((await read({ words: true })).segments![0]!.words![0]!.confidence! > 0);
  const page = (await client.listTranscriptions({ metadata: { deal } }, options)).data;
  assert.deepEqual(
    page.items.map((item) => item.id),
    [uuid],
  );
  const document = await client.exportTranscription<{ data: unknown }>(uuid, { format: 'md' }, { ...options, responseType: 'text' });
  assert.match(String(document.data), /## Transcript/);
  await client.requestReports(uuid, { reports: ['summary'] }, options);
  const report = async () => (await read()).prompt_results[0]!;
  while (['queued', 'processing'].includes((await report()).status)) await new Promise((resolve) => setTimeout(resolve, 500));
  assert.ok((await report()).text);
  assert.equal((await client.deleteTranscription(uuid, options)).status, 204);
  const gone = await client.getTranscription<{ status: number; data: ErrorBody }>(uuid, {}, { ...options, validateStatus: () => true });
  assert.equal(gone.status, 404);
  const { code, request_id } = gone.data;
  assert.ok(code === null && request_id);
  console.log('ok');
}

void main();
