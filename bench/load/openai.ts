/**
 * Load of clients of OpenAI's API on the whole service, engine included: `node --import tsx bench/load/openai.ts [--clients 50] [--others 5]
 * [--large 2000] [--json]`. Recordings of 30 MB and of `--large` MB, then `--clients` concurrent requests with the official client, its own
 * retries included, beside `--others` ordinary uploads of another workspace that arrive after them. All must succeed, and the other
 * workspace must not wait for the whole burst.
 */
import { openAsBlob, rmSync } from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import OpenAI from 'openai';
import { operatorOf } from '../../api/contract/actor.ts';
import { SCOPES } from '../../api/contract/workspace.ts';
import { createKey } from '../../db/access/keys.ts';
import { addMember } from '../../db/tenants/members.ts';
import { createWorkspace } from '../../db/tenants/workspaces.ts';
import { readNumbers } from '../numbers.ts';
import { samplesOf, writeWav } from '../recordings/sound.ts';
import { scratchFolder } from '../scratch.ts';
import { type Service, withService } from './service.ts';

const MB = 1_000_000;
const SAMPLE = fileURLToPath(new URL('../data/two-speakers.wav', import.meta.url));
const { clients, others, large, json } = readNumbers({ clients: 50, others: 5, large: 2000 });

const folder = scratchFolder('openai');
try {
  const result = await withService(
    async (service) => {
      const client = new OpenAI({ apiKey: service.key, baseURL: `${service.url}/v1`, timeout: 1_200_000 });
      const sizes = [];
      for (const megabytes of [30, large]) sizes.push(await sized(client, service, megabytes));
      return { machine: `${cpus().length} x ${cpus()[0]?.model}`, load: loadavg()[0], sizes, burst: await burst(client, service) };
    },
    { engine: true },
  );
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : `${inspect(result, { depth: 4, colors: false, breakLength: 120 })}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function transcribe(client: OpenAI, path: string): Promise<string> {
  const file = new File([await openAsBlob(path)], 'call.wav');
  const { text } = await client.audio.transcriptions.create({ file, model: 'whisper-1', language: 'en' });
  if (!/account of himself/i.test(text)) throw new Error(`The transcript is not that of the recording: ${text.slice(0, 200)}`);
  return text;
}

/** A recording of this size: the sample, and a chunk of padding that decoders skip. */
async function sized(client: OpenAI, service: Service, megabytes: number) {
  const path = join(folder, `${megabytes}.wav`);
  await writeWav(path, await samplesOf(SAMPLE));
  const file = await open(path, 'r+');
  const { size } = await file.stat();
  const header = Buffer.alloc(8);
  header.write('JUNK');
  header.writeUInt32LE(megabytes * MB - size - 8, 4);
  await file.write(header, 0, 8, size);
  await file.truncate(megabytes * MB);
  const riff = Buffer.alloc(4);
  riff.writeUInt32LE(megabytes * MB - 8);
  await file.write(riff, 0, 4, 4);
  await file.close();
  const start = performance.now();
  await transcribe(client, path);
  rmSync(path);
  return { megabytes, seconds: seconds(start), api_memory_mb: service.memory() };
}

/** Many concurrent requests, and shortly after them uploads of another workspace. */
async function burst(client: OpenAI, service: Service) {
  const path = join(folder, 'call.wav');
  await copyFile(SAMPLE, path);
  const start = performance.now();
  const failures: string[] = [];
  const answered: number[] = [];
  const requests = Array.from({ length: clients }, () =>
    transcribe(client, path).then(
      () => answered.push(seconds(start)),
      (error) => failures.push(String(error)),
    ),
  );
  await sleep(1_000);
  const key = await strangersKey(service);
  const ordinary = await Promise.all(Array.from({ length: others }, () => upload(service, key, path, start)));
  const before = answered.length;
  await Promise.all(requests);
  return {
    clients,
    answered: answered.length,
    failed: failures.length,
    first_failure: failures[0],
    seconds: { first: answered[0], last: answered.at(-1) },
    others: { uploads: others, seconds_to_the_last: Math.max(...ordinary), of_the_burst_answered_by_then: before },
  };
}

async function strangersKey({ db, vault }: Service): Promise<string> {
  const { id } = await db.acrossTenants((tx) => createWorkspace(tx, vault, { name: 'Others', minutes: 1_000 }));
  const operator = operatorOf(id);
  const { id: memberId } = await db.acrossTenants((tx) => addMember(tx, operator, { email: 'other@example.com', role: 'owner' }));
  return (await db.acrossTenants((tx) => createKey(tx, operator, { memberId, scopes: SCOPES }))).key;
}

/** Performs an ordinary upload. Returns the seconds from `start` to its completion. */
async function upload({ url }: Service, key: string, path: string, start: number): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-disposition': 'attachment; filename="call.wav"' };
  const sent = await fetch(`${url}/v1/transcriptions?language=en`, { method: 'POST', headers, body: await openAsBlob(path) });
  if (sent.status !== 201) throw new Error(`The upload was answered ${sent.status}: ${await sent.text()}`);
  const { uuid } = (await sent.json()) as { uuid: string };
  for (;;) {
    const { status } = (await (await fetch(`${url}/v1/transcriptions/${uuid}?wait=60`, { headers })).json()) as { status: string };
    if (status === 'completed') return seconds(start);
    if (status === 'failed') throw new Error(`The transcription ${uuid} failed`);
  }
}

function seconds(start: number): number {
  return Math.round((performance.now() - start) / 100) / 10;
}
