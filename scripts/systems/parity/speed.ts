/*
 * Times models of reference.py in Longhand, imported from their float32 ONNX files and from .nemo files, beside onnx-asr with their published 8-bit form. Longhand gets
 * one recording, onnx-asr the same sound in pieces, so that only Longhand spends time on VAD. Longhand runs before and after each.
 * Usage: speed.ts FOLDER MINUTES THREADS NAME…
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { longhand } from '../../../bench/peers/comparison.ts';
import { joined } from '../../../bench/recordings/conversations.ts';
import { writeWav } from '../../../bench/recordings/sound.ts';
import { examine } from '../../../engine/asr/examine.ts';
import { openPool } from '../../../engine/runtime/pool.ts';
import { importNemo } from '../../../models/nemo/importing.ts';
import { importPublished } from '../../../models/published/importing.ts';
import { SAMPLE_RATE } from '../../../models/sample-rate.ts';

const PIECE = 24 * SAMPLE_RATE; // samples: about the longest window of both
const BATCHES = [1, 4];
const DIARIZATION = fileURLToPath(new URL('../../../models/diarization', import.meta.url));
const RUN = fileURLToPath(new URL('./onnx_asr_run.py', import.meta.url));

const [folder, minutes, threads, ...names] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'longhand-speed-'));
try {
  const { samples } = await joined(Number(minutes) * 60, { seed: 1, split: 'test' });
  const whole = join(scratch, 'whole.wav');
  await writeWav(whole, samples);
  const pieces: string[] = [];
  for (let from = 0; from < samples.length; from += PIECE) {
    pieces.push(join(scratch, `${String(pieces.length).padStart(4, '0')}.wav`));
    await writeWav(pieces.at(-1)!, samples.subarray(from, from + PIECE));
  }
  const perHour = (seconds: number) => (60 * seconds * SAMPLE_RATE) / samples.length;
  for (const [i, name] of names.entries()) {
    const own = (await imported(name)).map((model) => ({ ...model, times: [] as number[] }));
    const time = async () => {
      for (const { path, times } of own) times.push(perHour(await timeOf(path, whole)));
    };
    await time();
    const others: number[] = [];
    for (const batch of BATCHES) {
      const { seconds, version } = await peer(join(folder!, name, 'int8'), batch, pieces);
      if (i === 0 && others.length === 0) process.stdout.write(`${header(version)}\n`);
      others.push(perHour(seconds));
      await time();
    }
    for (const { label, times } of own) {
      const mean = times.reduce((sum, one) => sum + one, 0) / times.length;
      const range = `${Math.min(...times).toFixed(2)}-${Math.max(...times).toFixed(2)}`;
      const cells = [
        label,
        `${mean.toFixed(2)} (${range})`,
        ...others.map((one) => one.toFixed(2)),
        (Math.min(...others) / mean).toFixed(2),
      ];
      process.stdout.write(`| ${cells.join(' | ')} |\n`);
    }
  }
} finally {
  rmSync(scratch, { recursive: true });
}

/** A model imported from its ONNX files, and from its .nemo file if it has one. */
async function imported(name: string): Promise<{ label: string; path: string }[]> {
  const options = { home: scratch, languages: ['en'], examine };
  const onnx = await importPublished(join(folder!, name, 'model'), { ...options, name });
  const nemo = join(folder!, name, 'model.nemo');
  if (!existsSync(nemo)) return [{ label: name, path: onnx.folder }];
  const label = `${name} .nemo`;
  return [
    { label: name, path: onnx.folder },
    { label, path: (await importNemo(nemo, { ...options, name: `${name}-nemo` })).folder },
  ];
}

function header(version: string): string {
  const peers = BATCHES.map((batch) => `${version}, batches of ${batch}, min/h`);
  const cells = ['model', 'Longhand, min/h', ...peers, 'ratio'];
  return `| ${cells.join(' | ')} |\n|${'---|'.repeat(cells.length)}`;
}

/** Seconds that recognition of a file takes, without loading the model. */
async function timeOf(model: string, file: string): Promise<number> {
  const pool = await openPool({ models: { whisper: model, diarization: DIARIZATION }, threads: Number(threads) });
  try {
    return (await longhand(pool, '').run(file, 'en')).seconds;
  } finally {
    await pool.close();
  }
}

async function peer(model: string, batch: number, files: readonly string[]): Promise<{ seconds: number; version: string }> {
  const python = join(folder!, 'venv', 'bin', 'python');
  const { stdout } = await promisify(execFile)(python, [RUN, model, 'int8', threads!, String(batch), ...files], { maxBuffer: 1 << 26 });
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as { seconds: number; version: string };
}
