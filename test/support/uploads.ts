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

/** Sends only the head of an upload, so that an answer can only be an early one. */
export async function knock(url: string, key: string, more: Headers = {}, query = ''): Promise<RawAnswer> {
  const connection = await connectRaw(url);
  try {
    connection.write(head('POST', `/v1/transcriptions${query}`, uploadHeaders(key, more)));
    return await connection.answer();
  } finally {
    connection.end();
  }
}

/** A whole upload. */
export async function send(url: string, key: string, more: Headers = {}, query = '', body: Uint8Array = FILE): Promise<RawAnswer> {
  const connection = await connectRaw(url);
  try {
    connection.write(head('POST', `/v1/transcriptions${query}`, uploadHeaders(key, { 'Content-Length': body.length, ...more })));
    connection.write(body);
    return await connection.answer();
  } finally {
    connection.end();
  }
}
