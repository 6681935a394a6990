import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { LEASE } from '../../../api/contract/limits.ts';
import { openVault, type Vault } from '../../../db/secrets/vault.ts';
import { findTools } from '../../../engine/audio/decode.ts';
import { nextProbe } from '../../../engine/tasks/probe.ts';
import { excerpt } from '../../support/engine/engine.ts';
import { taskBench } from '../../support/engine/tasks.ts';
import { ROOT } from '../../support/processes/processes.ts';

const bench = await taskBench(t);

t.test('nextProbe() finds the duration of raw AAC and MP3 that begin with silence', async (t) => {
  const workspace = await bench.workspace();
  const { ffmpeg } = await findTools();
  const sound = ['-f', 'lavfi', '-i', 'aevalsrc=0:d=10', '-f', 'lavfi', '-i', 'anoisesrc=d=50:r=16000'];
  for (const [extension, ...options] of [['aac'], ['mp3', '-q:a', '4', '-write_xing', '0']] as const) {
    const path = join(t.testdir(), `minute.${extension}`);
    const joined = ['-filter_complex', 'concat=n=2:v=0:a=1', '-ac', '1', '-ar', '16000'];
    await promisify(execFile)(ffmpeg, ['-v', 'error', '-y', ...sound, ...joined, ...options, path]);
    const id = await bench.upload(workspace, await readFile(path), { extension });
    await (await nextProbe(bench.engineHere(), () => {}))!();
    const row = await bench.row<{ duration_seconds: number }>('transcriptions', id);
    t.equal(Math.round(row!.duration_seconds), 60, extension);
  }
});

t.test('nextProbe() gives a host that cannot work a day to recover, however long the recording has waited before', async (t) => {
  const full = { ...bench.spool, open: () => Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' })) };
  const trouble = { reason: null, over: async () => true, look: async () => true };
  const id = await bench.upload(await bench.workspace(), Buffer.alloc(2000));
  await bench.db.query('*', `update transcriptions set created_at = now() - interval '3 days' where id = ?`, [id]);
  const attempt = async (parts: Parameters<typeof bench.engineHere>[0] = {}, of = id) => {
    await bench.due();
    await (await nextProbe(bench.engineHere({ trouble, ...parts }), () => {}))!();
    return bench.row<{ status: string; host_fault_at: string | null }>('transcriptions', of);
  };
  const first = await attempt({ spool: full });
  for (let times = 1; times < 2 * LEASE.attempts; times++)
    t.match(await attempt({ spool: full }), { status: 'queued', attempt: 0, host_fault_at: first!.host_fault_at });
  await bench.db.query('*', `update transcriptions set host_fault_at = host_fault_at - interval '1 day' where id = ?`, [id]);
  for (let times = 1; times < LEASE.attempts; times++) t.match(await attempt({ spool: full }), { status: 'queued', attempt: times });
  t.match(await attempt({ spool: full }), { status: 'failed', error_code: 'ENGINE_ERROR' });
  const sound = await bench.upload(await bench.workspace(), await excerpt());
  t.match(await attempt({ spool: full }, sound), { host_fault_at: String });
  t.match(await attempt({}, sound), { status: 'queued', host_fault_at: null }, 'its transcription gets another day');
});

t.test('nextProbe() fails no recording because the engine was started with a former master key; one with the newest goes on', async (t) => {
  const former = Buffer.from(bench.masterKey, 'base64');
  const id = await bench.upload(await bench.workspace(), await readFile(join(ROOT, 'bench/data/two-speakers.wav')));
  const before = await openVault(bench.db, [former]);
  const after = await openVault(bench.db, [randomBytes(32), former]);
  await after.rotate();
  const look = async (vault: Vault) => {
    await bench.due();
    await (await nextProbe(bench.engineHere({ vault }), () => {}))!();
    return bench.row<{ status: string; attempt: number; duration_seconds: number | null }>('transcriptions', id);
  };
  for (let times = 0; times <= LEASE.attempts; times++)
    t.match(await look(before), { status: 'queued', attempt: 0, duration_seconds: null });
  t.match(await look(after), { status: 'queued', duration_seconds: Number });
});
