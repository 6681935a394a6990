/**
 * Measures API latency under load: 1,000 pollers, 16 slow uploads and an engine at full speed beside one API and PostgreSQL:
 * `scripts/longhand bench busy [--seconds 60] [--pollers 1000] [--every 5] [--uploads 16] [--json]`. Target on 2 cores: no request fails,
 * and polls have a p99 below 100 ms. Exits with 1 if it is missed.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { readNumbers } from '../numbers.ts';
import { poll } from './pollers.ts';
import { type Service, withService } from './service.ts';

const P99_MS = 100;
const RECORDINGS = 8; // four are processed at once by default, the others are queued
const MINUTES = 20; // of each: more than is processed during the run
const HEAD = 44; // bytes of a wav header
const PER_KEY = 8; // concurrent uploads, below the limit of 10
const SLICES = 200; // parts of a slow upload

// `every` in seconds, as recommended in the API's documentation
const { seconds, pollers, every, uploads, json } = readNumbers({ seconds: 60, pollers: 1000, every: 5, uploads: 16 });

process.exitCode = await withService(
  async (service) => {
    const speech = conversation(MINUTES);
    const ids = await Promise.all(Array.from({ length: RECORDINGS }, () => upload(service.url, service.key, speech)));
    await untilWorking(service, ids);
    const keys: string[] = [];
    for (let i = 0; i < uploads; i += PER_KEY) keys.push(await service.anotherKey());
    const small = conversation(1).subarray(0, 1_000_000);
    const sending = Array.from({ length: uploads }, (_, i) =>
      upload(service.url, keys[Math.floor(i / PER_KEY)]!, small, (seconds * 1000) / SLICES).then(
        () => true,
        () => false,
      ),
    );
    const urls = ids.map((id) => `${service.url}/v1/transcriptions/${id}`);
    const polls = await poll(urls, { authorization: `Bearer ${service.key}` }, pollers, pollers / every, seconds);
    const accepted = (await Promise.all(sending)).filter(Boolean).length;
    const progress = await working(service, ids);
    const kept = polls.failed === 0 && accepted === uploads && polls.p99_ms < P99_MS && progress.some((fraction) => fraction > 0);
    const result = {
      machine: `${cpus().length} x ${cpus()[0]?.model}`,
      polls: { pollers, ...polls },
      slow_uploads: { sent: uploads, accepted },
      processing: { recordings: progress.length, furthest: Math.max(0, ...progress) },
      api_mb: service.memory(),
      kept,
    };
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : `${inspect(result, { depth: 3, breakLength: 120 })}\n`);
    return kept ? 0 : 1;
  },
  { engine: true },
);

/** Progress of the recordings in progress. */
async function working({ db }: Service, ids: readonly string[]): Promise<number[]> {
  const rows = await db.query<{ fraction: number }>(
    '*',
    `select fraction from transcriptions where status = 'processing' and id = any(?::uuid[])`,
    [`{${ids.join()}}`],
  );
  return rows.map((row) => row.fraction);
}

async function untilWorking(service: Service, ids: readonly string[]): Promise<void> {
  for (const end = Date.now() + 120_000; !(await working(service, ids)).length; await sleep(200)) {
    if (Date.now() > end) throw new Error('The engine has started none of the recordings within 2 minutes');
  }
}

/** The bundled conversation, repeated to a wav file of this length. */
function conversation(minutes: number): Buffer {
  const wav = readFileSync(new URL('../data/two-speakers.wav', import.meta.url));
  const length = minutes * 60 * 32_000;
  const head = Buffer.from(wav.subarray(0, HEAD));
  head.writeUInt32LE(HEAD - 8 + length, 4);
  head.writeUInt32LE(length, HEAD - 4);
  return Buffer.concat([head, Buffer.alloc(length, wav.subarray(HEAD))]);
}

/** Uploads at full speed, or in parts with a pause after each. Throws unless the file is accepted. */
async function upload(url: string, key: string, bytes: Buffer, pauseMs = 0): Promise<string> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-length': String(bytes.length),
    'content-disposition': 'attachment; filename="busy.wav"',
  };
  const request = http.request(`${url}/v1/transcriptions`, { method: 'POST', agent: false, headers });
  const answered = once(request, 'response') as Promise<[http.IncomingMessage]>;
  const slice = pauseMs ? Math.ceil(bytes.length / SLICES) : bytes.length;
  for (let at = 0; at < bytes.length; at += slice) {
    if (!request.write(bytes.subarray(at, at + slice))) await once(request, 'drain');
    if (pauseMs) await sleep(pauseMs);
  }
  request.end();
  const [answer] = await answered;
  const body = Buffer.concat(await answer.toArray()).toString();
  if (answer.statusCode !== 201) throw new Error(`An upload got the response ${answer.statusCode}: ${body}`);
  return (JSON.parse(body) as { uuid: string }).uuid;
}
