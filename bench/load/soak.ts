/**
 * Soak test of a whole service under a mixed load, with the slope of its memory: `node --import tsx bench/load/soak.ts [--hours 4] [--parallel 4]
 * [--json]`. Recordings of all kinds are uploaded, corrupt ones too; each is polled until it ends, read, exported and deleted. Prints a
 * line per minute; exits with 1 if a request failed unexpectedly, or if memory grows faster than `--slope` MB per hour after the first half
 * hour.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readNumbers } from '../numbers.ts';
import { seeded } from '../random.ts';
import { clips } from '../recordings/clips.ts';
import { scratchFolder } from '../scratch.ts';

const { hours, parallel, slope: steepest, json } = readNumbers({ hours: 4, parallel: 4, slope: 20 });
const WARM_HOURS = Math.min(0.5, hours / 2); // warm-up, not counted: caches fill up
const LEAST_HOURS = 2; // over a shorter time a slope is meaningless
const TERMINAL = /^(completed|failed|insufficient_balance)$/;

const home = scratchFolder('soak');
const up = spawn(fileURLToPath(new URL('../../scripts/longhand', import.meta.url)), ['up'], {
  env: { ...process.env, LONGHAND_HOME: home, PORT: '0', LONGHAND_RATE_LIMIT: '0', LOG_LEVEL: 'error' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
process.once('exit', () => void up.kill('SIGTERM')); // after a signal
const counts = { done: 0, failed: 0, errors: 0 };
const samples: { hours: number; mb: number }[] = [];
try {
  const { url, key } = await started(up);
  const until = Date.now() + hours * 3_600_000;
  const begun = Date.now();
  const watch = setInterval(() => {
    const mb = memoryOf(up.pid!);
    const at = (Date.now() - begun) / 3_600_000;
    samples.push({ hours: at, mb });
    process.stderr.write(
      `${at.toFixed(2)} h: ${mb.toFixed(0)} MB, ${counts.done} done, ${counts.failed} failed as expected, ${counts.errors} errors\n`,
    );
  }, 60_000);
  await Promise.all(Array.from({ length: parallel }, (_, i) => client(url, key, i, () => Date.now() < until)));
  clearInterval(watch);
} finally {
  up.kill('SIGTERM');
  if (up.exitCode === null && up.signalCode === null) await new Promise((resolve) => up.once('exit', resolve));
  rmSync(home, { recursive: true, force: true });
}
const slope = slopeOf(samples.filter((sample) => sample.hours >= WARM_HOURS));
const result = {
  hours,
  ...counts,
  slope_mb_per_hour: Number(slope.toFixed(2)),
  peak_mb: Math.round(Math.max(0, ...samples.map((s) => s.mb))),
};
process.stdout.write(
  `${
    json
      ? JSON.stringify(result)
      : Object.entries(result)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n')
  }\n`,
);
process.exitCode = counts.errors || (hours >= LEAST_HOURS && slope > steepest) ? 1 : 0;

/** One integrator: uploads, polls, reads, exports and deletes in a loop. */
async function client(url: string, key: string, seed: number, going: () => boolean): Promise<void> {
  const random = seeded(seed + 1);
  const recordings = clips();
  const ask = (path: string, options: RequestInit = {}) =>
    fetch(`${url}/v1${path}`, { ...options, headers: { Authorization: `Bearer ${key}`, ...options.headers } });
  while (going()) {
    const clip = random.pick(recordings);
    const broken = random.next() < 0.1;
    const bytes = broken ? randomBytes(20_000) : readFileSync(clip.path);
    const name = encodeURIComponent(clip.file);
    try {
      const sent = await ask('/transcriptions', {
        method: 'POST',
        body: new Uint8Array(bytes),
        headers: { 'Content-Disposition': `attachment; filename*=UTF-8''${name}` },
      });
      if (sent.status !== 201) throw new Error(`the upload got the response ${sent.status}`);
      const { uuid } = (await sent.json()) as { uuid: string };
      let status = 'queued';
      for (let i = 0; i < 600 && !TERMINAL.test(status); i++) {
        await sleep(1_000);
        status = ((await (await ask(`/transcriptions/${uuid}`)).json()) as { status: string }).status;
      }
      if (status === 'completed') counts.done++;
      else if (status === 'failed' && (broken || clip.seconds < 1)) counts.failed++;
      else throw new Error(`${clip.file} ended as ${status}`);
      await (await ask(`/transcriptions/${uuid}/export?format=md`)).arrayBuffer();
      const gone = await ask(`/transcriptions/${uuid}`, { method: 'DELETE' });
      if (gone.status !== 204 && gone.status !== 429) throw new Error(`DELETE got the response ${gone.status}`);
    } catch (error) {
      counts.errors++;
      process.stderr.write(`${(error as Error).message}\n`);
      await sleep(1_000);
    }
  }
}

/** The URL and the key printed at the first start. */
async function started(child: ChildProcess): Promise<{ url: string; key: string }> {
  let text = '';
  for await (const chunk of child.stdout!) {
    text += chunk;
    const url = /listening on (\S+)/.exec(text)?.[1];
    const key = /lh_\w+/.exec(text)?.[0];
    if (url && key) return { url, key };
  }
  throw new Error(`The service did not start:\n${text}`);
}

/** Resident memory of a process and its descendants, MB. */
function memoryOf(pid: number): number {
  const below = new Map<number, number[]>();
  const rss = new Map<number, number>();
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const status = readFileSync(`/proc/${entry}/status`, 'utf8');
      const parent = Number(/PPid:\s+(\d+)/.exec(status)?.[1]);
      rss.set(Number(entry), Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
      below.set(parent, [...(below.get(parent) ?? []), Number(entry)]);
    } catch {} // it exited meanwhile
  }
  const sum = (id: number): number => (rss.get(id) ?? 0) + (below.get(id) ?? []).reduce((total, child) => total + sum(child), 0);
  return sum(pid);
}

/** Least squares, MB per hour. */
function slopeOf(points: readonly { hours: number; mb: number }[]): number {
  if (points.length < 2) return 0;
  const mean = (of: (point: { hours: number; mb: number }) => number) => points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean((p) => p.hours), mean((p) => p.mb)];
  const spread = points.reduce((sum, p) => sum + (p.hours - x) ** 2, 0);
  return spread ? points.reduce((sum, p) => sum + (p.hours - x) * (p.mb - y), 0) / spread : 0;
}
