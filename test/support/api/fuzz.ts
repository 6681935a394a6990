import fc from 'fast-check';
import type { Test } from 'tap';
import type { Person } from '../databases/world.ts';
import { ANY_CHARACTER } from '../property.ts';
import { SEED } from '../seeded.ts';
import { type TestApi, testApi } from './client.ts';
import { connectRaw, head, type RawAnswer } from './raw.ts';

/*
 * Hostile requests over real sockets: every response is below 500, in the contract's shape and in time, and the server keeps running.
 * A failure prints its seed and path: SEED=n repeats it, RUNS=n tries more.
 */
export const RUNS = Number(process.env.RUNS ?? 120);
export const PATIENCE_MS = 30_000; // a response takes milliseconds; this long, even on a busy machine, is a hang
const LONGEST_MS = 600_000; // per property, shrinking included; a property that is not tested completely fails

export interface Target {
  api: TestApi;
  owner: Person;
  key: string;
  bearer: { Authorization: string };
  /** A transcription. */
  id: string;
  /** Sends these bytes on a new connection. Null: the server closed it without a response. */
  exchange(bytes: string | Uint8Array): Promise<RawAnswer | null>;
  /** Runs a property, then checks that the server is still running. */
  always<T>(test: Asserts, arbitrary: fc.Arbitrary<T>, property: (value: T) => Promise<void>, runs?: number): Promise<void>;
}

interface Asserts {
  notOk(value: unknown, message: string): unknown;
  equal(found: unknown, wanted: unknown): unknown;
}

export async function openTarget(t: Test): Promise<Target> {
  t.comment(`SEED=${SEED}`);
  const api = await testApi(t);
  const workspace = await api.world.workspace({ minutes: 1e9 });
  const owner = await api.world.member(workspace, { role: 'owner', email: 'owner@example.org' });
  const { key } = await api.world.key(owner);
  const id = await api.world.transcription(owner, { externalId: 'deal/42', metadata: '{"deal":42,"tags":["a"]}' });
  return {
    ...{ api, owner, key, id },
    bearer: { Authorization: `Bearer ${key}` },
    async exchange(bytes) {
      const connection = await connectRaw(api.url);
      try {
        connection.write(bytes);
        return await connection.answer(PATIENCE_MS).catch((error: Error) => {
          if (error.message.includes('connection was closed') && !error.message.includes('HTTP/1.1')) return null;
          throw error;
        });
      } finally {
        connection.end(true);
      }
    },
    async always(test, arbitrary, property, runs = RUNS) {
      const check = await fc.check(fc.asyncProperty(arbitrary, property), {
        seed: SEED,
        numRuns: runs,
        interruptAfterTimeLimit: LONGEST_MS,
        markInterruptAsFailure: true,
      });
      test.notOk(
        check.failed,
        check.failed
          ? `SEED=${SEED} path ${check.counterexamplePath}\n${fc.defaultReportMessage(check)}`
          : `${check.numRuns} runs from seed ${SEED}`,
      );
      test.equal((await api.call('', 'GET', '/healthz')).status, 200);
      await api.db.acrossTenants((tx) => tx.rows('delete from transcriptions where id <> ?', [id])); // so that the queue limit is not reached
    },
  };
}

/** A request whose header values are sent unchanged, as latin1 bytes. */
export function request(method: string, path: string, headers: Record<string, string>, body: string | Uint8Array = ''): Buffer {
  const bytes = Buffer.from(body as string);
  const all = { ...headers, ...(bytes.length || method !== 'GET' ? { 'Content-Length': String(bytes.length) } : {}) };
  return Buffer.concat([Buffer.from(head(method, path, all), 'latin1'), bytes]);
}

/** Throws if a response does not conform to the contract. */
export function judge(answer: RawAnswer | null, form: 'contract' | 'oauth' | 'rpc' | 'page' = 'contract'): void {
  if (!answer) throw new Error('closed without a response');
  const { status, headers, body, json } = answer;
  const ours = headers.has('x-request-id');
  if (!ours && [400, 431, 505].includes(status)) return; // HTML from the HTTP parser, as documented
  if (status >= 500) throw new Error(`${status} ${body}`);
  if (status < 400) return;
  const keys = Object.keys(json ?? {})
    .sort()
    .join();
  if (form === 'oauth' && keys === 'error,error_description') return;
  if (form === 'page' && headers.get('content-type')?.startsWith('text/plain')) return; // shown to people
  if (form === 'rpc' && json?.jsonrpc === '2.0') return;
  if (keys !== 'code,detail,message,request_id') throw new Error(`${status} has another shape: ${body}`);
  if (!headers.get('content-type')?.startsWith('application/json')) throw new Error(`${status} is ${headers.get('content-type')}`);
  if (json.request_id !== headers.get('x-request-id')) throw new Error(`${status} has two request ids`);
  if (json.code !== null && !/^[a-z_]+$/.test(json.code)) throw new Error(`code ${json.code}`);
  if (typeof json.message !== 'string' || typeof json.detail !== 'object') throw new Error(body);
}

const ODD = [
  '\0',
  '\u0001',
  '\u001f',
  '\u007f',
  '\u0085',
  '\u00a0',
  '\u202e',
  '\u2066',
  '\ufeff',
  '\uffff',
  '\ud800',
  '🦏',
  'é',
  '%',
  '%2F',
  '%00',
  '%zz',
  '/',
  '\\',
  '..',
  "'",
  '"',
  ';',
  ',',
  '=',
  '*',
  '&',
  '#',
  '?',
  '{',
  '}',
  '[',
  ']',
  '$',
  '\\u0000',
  '\\ud800',
  ' ',
  '\t',
  '-1',
  '1e999',
  '9007199254740993',
  'null',
  'true',
  '__proto__',
  'constructor',
];
/** Text that often causes errors in programs. */
export const odd = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(fc.oneof(fc.constantFrom(...ODD), fc.string({ maxLength: 6 })), { maxLength: 10 }).map((parts) => parts.join('')),
  },
  { weight: 2, arbitrary: fc.string({ unit: ANY_CHARACTER, maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 100, max: 6000 })
      .chain((length) => fc.constantFrom('a', 'é', '%41', '"').map((unit) => unit.repeat(length / unit.length))),
  },
);
/** Header values: bytes without control characters, which test/api/fuzz/wire.test.ts covers. */
export const headerValue = odd.map((text) =>
  Buffer.from(text)
    .toString('latin1')
    .replace(/[\0-\x1f\x7f]/g, ' ')
    .slice(0, 6000),
);
export const encoded = odd.map((text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '')));
export const inPath = fc.oneof(
  encoded,
  odd.map((text) =>
    Buffer.from(text)
      .toString('latin1')
      .replace(/[\s\0-\x20\x7f-\xff]/g, '_'),
  ),
);
