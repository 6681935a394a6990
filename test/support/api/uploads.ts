import { checkDocumented } from './documented.ts';
import { connectRaw, head, type RawAnswer } from './raw.ts';

export const FILE = Buffer.alloc(2048, 'longhand ');

export type Headers = Record<string, string | number | undefined>;

/** The headers of an ordinary upload of FILE under this key. */
export function uploadHeaders(key: string, more: Headers = {}): Headers {
  return {
    Authorization: `Bearer ${key}`,
    'Content-Length': FILE.length,
    'Content-Disposition': 'attachment; filename="call.mp3"',
    ...more,
  };
}

/** Sends only the headers of an upload, so that any response is an early one. */
export function knock(url: string, key: string, more: Headers = {}, query = ''): Promise<RawAnswer> {
  return upload(url, uploadHeaders(key, more), query, null);
}

/** A complete upload. */
export function send(url: string, key: string, more: Headers = {}, query = '', body: Uint8Array = FILE): Promise<RawAnswer> {
  return upload(url, uploadHeaders(key, { 'Content-Length': body.length, ...more }), query, body);
}

async function upload(url: string, headers: Headers, query: string, body: Uint8Array | null): Promise<RawAnswer> {
  const connection = await connectRaw(url);
  try {
    connection.write(head('POST', `/v1/transcriptions${query}`, headers));
    if (body) connection.write(body);
    const answer = await connection.answer();
    checkDocumented('POST', '/v1/transcriptions', answer);
    return answer;
  } finally {
    connection.end();
  }
}
