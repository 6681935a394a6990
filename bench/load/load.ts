/**
 * Throughput of one API process for many clients, with PostgreSQL and the load generator on the same machine: `node --import tsx
 * bench/load/load.ts [--connections 1000] [--rate 3000] [--uploads 10] [--mib 200] [--json]`. Targets on 2 cores: 3,000 records of a 10-minute
 * call per second at a p99 below 25 ms with 1,000 open connections; 10 parallel uploads of 200 MiB at disk speed with the API below 200 MB.
 */
import { once } from 'node:events';
import http from 'node:http';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { inspect } from 'node:util';
import { readNumbers } from '../numbers.ts';
import { type Polled, poll } from './pollers.ts';
import { writeCall } from './record.ts';
import { type Service, withService } from './service.ts';

interface Load {
  requests: { average: number };
  latency: { p99: number };
  non2xx: number;
  errors: number;
}

/** untyped package */
const autocannon = createRequire(import.meta.url)('autocannon') as (options: Record<string, unknown>) => Promise<Load>;

const MIB = 1_048_576;
const CALL_SECONDS = 600;
const WARM_SECONDS = 3;
const RUN_SECONDS = 10;

const { connections, rate, uploads, mib, json } = readNumbers({ connections: 1000, rate: 3000, uploads: 10, mib: 200 });

await withService(async (service) => {
  const atStartMb = service.memory();
  const upload = await uploadMany(service);
  const id = await writeCall(service, CALL_SECONDS);
  const record = { url: `${service.url}/v1/transcriptions/${id}`, headers: { authorization: `Bearer ${service.key}` } };
  await autocannon({ ...record, connections: 50, duration: WARM_SECONDS });
  const before = service.processor();
  const steady = await poll(record.url, record.headers, connections, rate, RUN_SECONDS);
  const processorMs = ((service.processor() - before) * 1000) / (rate * RUN_SECONDS);
  const full = await autocannon({ ...record, connections: 50, duration: RUN_SECONDS });
  const afterReadsMb = service.memory();
  print({ machine: `${cpus().length} x ${cpus()[0]?.model}`, steady, full, processorMs, atStartMb, afterReadsMb, upload });
});

interface Uploads {
  seconds: number;
  accepted: number;
  peakMb: number;
}

async function uploadMany(service: Service): Promise<Uploads> {
  const chunk = Buffer.alloc(MIB, 'longhand');
  let peakMb = 0;
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, service.memory());
  }, 100);
  const start = performance.now();
  const statuses = await Promise.all(Array.from({ length: uploads }, () => uploadOne(service, chunk)));
  clearInterval(watch);
  const accepted = statuses.filter((status) => status === 201).length;
  return { seconds: (performance.now() - start) / 1000, accepted, peakMb };
}

async function uploadOne({ url, key }: Service, chunk: Buffer): Promise<number> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-length': String(mib * MIB),
    'content-disposition': 'attachment; filename="load.mp3"',
  };
  const request = http.request(`${url}/v1/transcriptions`, { method: 'POST', agent: false, headers });
  const answered = once(request, 'response') as Promise<[http.IncomingMessage]>;
  for (let sent = 0; sent < mib; sent++) if (!request.write(chunk)) await once(request, 'drain');
  request.end();
  const [answer] = await answered;
  answer.resume();
  return answer.statusCode!;
}

function print(found: {
  machine: string;
  steady: Polled;
  full: Load;
  processorMs: number;
  atStartMb: number;
  afterReadsMb: number;
  upload: Uploads;
}): void {
  const { machine, steady, full, processorMs, atStartMb, afterReadsMb, upload } = found;
  const result = {
    machine,
    steady: { rate, connections, ...steady, api_processor_ms_per_request: Math.round(processorMs * 1000) / 1000 },
    full: { connections: 50, per_second: full.requests.average, p99_ms: full.latency.p99, failed: full.non2xx + full.errors },
    uploads: { files: uploads, mib, mib_per_second: Math.round((uploads * mib) / upload.seconds), accepted: upload.accepted },
    memory_mb: { at_start: atStartMb, peak_during_uploads: upload.peakMb, after_reads: afterReadsMb },
  };
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : `${inspect(result, { depth: 3, colors: false, breakLength: 120 })}\n`);
}
