/* An integration with openapi-typescript and openapi-fetch; `schema.d.ts` is generated from the document. */
import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

const open = (base: string, key: string) => createClient<paths>({ baseUrl: `${base}/v1`, headers: { authorization: `Bearer ${key}` } });

/** Uploads a file with metadata. Returns its id. */
export async function send(base: string, key: string, bytes: Uint8Array, name: string, metadata = {}): Promise<string> {
  const { data, error } = await open(base, key).POST('/transcriptions', {
    params: {
      query: { language: 'en', diarize: true },
      header: { 'Content-Disposition': `attachment; filename="${name}"`, 'X-Metadata': JSON.stringify(metadata) },
    },
    body: bytes as unknown as string, // the tool types raw bytes as binary strings
    bodySerializer: (body: unknown) => body as BodyInit,
  });
  if (error) throw new Error(`${error.code}: ${error.message}`);
  return data.uuid;
}

/** Waits for the end of a transcription. Returns its status. */
export async function wait(base: string, key: string, id: string): Promise<string> {
  for (;;) {
    const { data, error } = await open(base, key).GET('/transcriptions/{id}', { params: { path: { id } } });
    if (error) throw new Error(`${error.code}: ${error.message}`);
    if (data.status !== 'queued' && data.status !== 'processing') return data.status;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Reads a transcription, lists by metadata and exports. */
export async function readBack(base: string, key: string, id: string, metadata: Record<string, string>) {
  const client = open(base, key);
  const one = await client.GET('/transcriptions/{id}', { params: { path: { id }, query: { words: true } } });
  const list = await client.GET('/transcriptions', { params: { query: { metadata } } });
  const file = await client.GET('/transcriptions/{id}/export', { params: { path: { id }, query: { format: 'md' } }, parseAs: 'text' });
  if (one.error || list.error || file.error) throw new Error(JSON.stringify(one.error ?? list.error ?? file.error));
  return { id: one.data.id, listed: list.data.items.map((item) => item.id), markdown: file.data.includes('## Transcript') };
}

/** Requests a report. Returns its status. */
export async function request(base: string, key: string, id: string): Promise<string | undefined> {
  const { data, error } = await open(base, key).POST('/transcriptions/{id}/reports', {
    params: { path: { id } },
    body: { reports: ['summary'] },
  });
  if (error) throw new Error(`${error.code}: ${error.message}`);
  return data.reports[0]?.status;
}

/** Waits for the first report of a transcription. Returns its text. */
export async function report(base: string, key: string, id: string): Promise<string | null | undefined> {
  for (;;) {
    const { data, error } = await open(base, key).GET('/transcriptions/{id}', { params: { path: { id } } });
    if (error) throw new Error(`${error.code}: ${error.message}`);
    const first = data.prompt_results[0];
    if (first?.status !== 'queued' && first?.status !== 'processing') return first?.text;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Deletes a transcription. Returns 204, or code and status of the error. */
export async function remove(base: string, key: string, id: string): Promise<number | string> {
  const { error, response } = await open(base, key).DELETE('/transcriptions/{id}', { params: { path: { id } } });
  return error ? `${error.code}: ${response.status}` : response.status;
}
