/* The journey of a recording with the typescript-fetch client of openapi-generator: BASE (with /v1), KEY, FILE. */
import assert from 'node:assert';
import { openAsBlob } from 'node:fs';
import { Configuration, ExportApi, ReportsApi, type ResponseError, TranscriptionsApi } from './index.js';

const configuration = new Configuration({ basePath: process.env.BASE, accessToken: process.env.KEY });
const [transcriptions, exports, reports] = [
  new TranscriptionsApi(configuration),
  new ExportApi(configuration),
  new ReportsApi(configuration),
];
const deal = `typescript-fetch-${crypto.randomUUID()}`;

async function main(): Promise<void> {
  const { uuid: id } = await transcriptions.uploadTranscription({
    ...{ contentDisposition: 'attachment; filename="call.wav"', language: 'en', xMetadata: JSON.stringify({ deal }) },
    body: await openAsBlob(process.env.FILE!),
  });
  let record = await transcriptions.getTranscription({ id, wait: 30 });
  while (record.status === 'queued' || record.status === 'processing') record = await transcriptions.getTranscription({ id, wait: 30 });
  assert.deepEqual([record.status, record.id], ['completed', id]);
  const { segments } = await transcriptions.getTranscription({ id, words: true });
  assert.ok(segments![0]!.words![0]!.confidence! > 0);
  const { items } = await transcriptions.listTranscriptions({ metadata: { 'metadata.deal': deal } }); // this generator flattens objects into the query
  assert.deepEqual(
    items.map((item) => item.id),
    [id],
  );
  assert.match(await (await exports.exportTranscription({ id, format: 'md' })).text(), /## Transcript/);
  await reports.requestReports({ id, reportRequest: { reports: ['summary'] } });
  const report = async () => (await transcriptions.getTranscription({ id })).promptResults[0]!;
  while (['queued', 'processing'].includes((await report()).status)) await new Promise((resolve) => setTimeout(resolve, 500));
  assert.ok((await report()).text);
  await transcriptions.deleteTranscription({ id });
  const gone = await transcriptions.getTranscription({ id }).catch((error: ResponseError) => error.response);
  assert.ok(gone instanceof Response && gone.status === 404 && (await gone.json()).code === null);
  console.log('ok');
}

void main();
