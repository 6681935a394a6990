/**
 * `npm run chaos [-- --minutes=60 --seed=1 --clients=4]`: the whole service under a load while its parts are killed, stopped, frozen, cut off from
 * each other, given a wrong clock and a full disk, in an order that the seed determines. Afterwards everything must balance (chaos/books.ts).
 * Prints a line for each fault, then tables. Exits with 1 if anything is wrong.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { balance } from './chaos/books.ts';
import { cause } from './chaos/faults.ts';
import { integrate, type Load, type Recording } from './chaos/load.ts';
import { ROLES } from './chaos/parts.ts';
import { openStage, type Stage } from './chaos/stage.ts';
import { conversation } from './support/engine/engine.ts';
import { ROOT } from './support/processes/processes.ts';
import { buildPrograms } from './support/run/build.ts';
import { seeded } from './support/seeded.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    clients: { type: 'string', default: '4' },
  },
});
const [minutes, seed, clients] = [values.minutes, values.seed, values.clients].map(Number) as [number, number, number];
const SAMPLE_MS = 10_000;

process.env.TEST_PROGRAMS ??= await buildPrograms();
const endings: (() => unknown)[] = [];
const folder = mkdtempSync(join(tmpdir(), 'longhand-chaos-'));
endings.push(() => rmSync(folder, { recursive: true, force: true }));
let ended: Promise<void> | undefined;
/** Stops all parts and removes their files, those too that start meanwhile; once, however often it is called. */
const end = () => (ended ??= endAll());
async function endAll(): Promise<void> {
  for (let ending = endings.pop(); ending; ending = endings.pop()) await ending();
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end().finally(() => process.exit(130)));
const begun = Date.now();
const log = (line: string) => process.stdout.write(`${((Date.now() - begun) / 1000).toFixed(0).padStart(5)} s  ${line}\n`);
try {
  const stage = await openStage({ teardown: (ending) => void endings.push(ending), testdir: () => folder });
  log('everything runs');
  const until = Date.now() + minutes * 60_000;
  const load: Load = { accepted: [], statuses: new Map(), violations: [] };
  const memory = watchMemory(stage);
  const target = { url: stage.url, key: stage.service.key };
  const recordings = await makeRecordings();
  const integrators = Array.from({ length: clients }, (_, i) => integrate(target, recordings, seeded(seed * 1000 + i), until, load));
  const befallen = await cause(stage.parts, stage.disk, seeded(seed), until, log);
  log('no more faults');
  await Promise.all(integrators);
  const { ended: ends, wrong } = await balance(stage, load);
  memory.stop();
  table('Faults', befallen);
  table('Responses (0: none)', load.statuses);
  table(
    `Transcriptions, of ${load.accepted.length} accepted uploads, ${load.accepted.filter(({ deleted }) => deleted).length} deleted`,
    ends,
  );
  table('Peak memory of a process, MB, in the first and the second half', memory.halves());
  process.stdout.write(`\n${wrong.length ? `${wrong.length} WRONG:\n${wrong.slice(0, 100).join('\n')}` : 'Everything balances.'}\n`);
  process.exitCode = wrong.length ? 1 : 0;
} finally {
  await end();
}
process.exit(); // after an hour of broken connections Node once never came to its end: it span in its clean-up of handles

async function makeRecordings(): Promise<Recording[]> {
  const clip = (name: string) => new Uint8Array(readFileSync(join(ROOT, 'bench/data/clips', name)));
  return [
    { name: 'call.wav', bytes: new Uint8Array(await conversation(1)), ends: 'completed' },
    { name: 'long.wav', bytes: new Uint8Array(await conversation(9)), ends: 'completed' },
    { name: 'note.flac', bytes: clip('en_google_brooklyn_bridge.flac'), ends: 'completed' },
    { name: 'call.mp3', bytes: clip('en_commonvoice_22058267.mp3'), ends: 'completed' },
    { name: 'broken.mp3', bytes: new Uint8Array(20_000).map((_, i) => (i * 7919) % 251), ends: 'failed' },
  ];
}

/** Samples the resident memory of every part. */
function watchMemory({ parts }: Stage) {
  const samples = new Map<string, number[]>(ROLES.map((role) => [role, []]));
  const timer = setInterval(() => {
    for (const role of ROLES)
      samples.get(role)!.push(Math.max(0, ...parts.filter((part) => part.role === role).map(({ pid }) => residentOf(pid))));
  }, SAMPLE_MS);
  return {
    stop: () => clearInterval(timer),
    halves: () =>
      new Map(
        [...samples].map(([role, all]) => {
          const half = all.length >> 1;
          return [role, `${Math.max(0, ...all.slice(0, half)).toFixed(0)}, ${Math.max(0, ...all.slice(half)).toFixed(0)}`];
        }),
      ),
  };
}

/** Resident memory of a process, MB; 0 if it does not run. */
function residentOf(pid: number | null): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
  } catch {
    return 0;
  }
}

function table(title: string, rows: ReadonlyMap<string | number, number | string>): void {
  const lines = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `  ${String(name).padEnd(48)} ${value}`);
  process.stdout.write(`\n${title}\n${lines.join('\n')}\n`);
}
