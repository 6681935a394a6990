import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Settings } from '../../api/contract/settings.ts';
import type { Pool } from '../../engine/runtime/pool.ts';
import { transcribe } from '../../engine/transcribe.ts';
import type { Transcript } from '../../engine/types.ts';
import { type Format, render } from './formats.ts';
import { limited } from './limited.ts';
import { openLocalPool } from './pool.ts';
import { openBar } from './progress.ts';
import { reason, sentence } from './sentence.ts';
import { stopSignal } from './stop.ts';

export interface TranscribeOptions {
  language: string;
  speakers?: number;
  diarize: boolean;
  format: Format;
  json?: boolean;
  model?: string;
  words?: boolean;
  accurate?: boolean;
  outputDir?: string | true;
}

const ROOM = 'An hour takes 115 MB per channel: free some space, or set TMPDIR to another folder';

/**
 * Transcribes files, as many at once as there are threads, and yields their transcripts in order. A failing file does not stop the others.
 */
export async function transcribeFiles(files: readonly string[], options: TranscribeOptions, settings: Settings): Promise<void> {
  if (options.outputDir) refuseSame(files, options);
  if (typeof options.outputDir === 'string') await mkdir(options.outputDir, { recursive: true });
  const unusable = await Promise.all(files.map((file) => checkAccess(file, options).then(() => null, toError)));
  if (unusable.every((failure) => failure)) {
    for (const [index, file] of files.entries()) report(file, unusable[index]!);
    return; // before loading models
  }
  const stop = stopSignal();
  const pool = await openLocalPool(settings);
  const bar = openBar(files.length === 1 ? path.basename(files[0]!) : `${files.length} files`);
  const shares = files.map(() => 0);
  const onProgress = (index: number, fraction: number) => {
    shares[index] = fraction;
    bar.to(shares.reduce((sum, share) => sum + share) / files.length);
  };
  try {
    const work = limited(pool.threads, files, (file, index) =>
      transcribeFile(file, options, settings, pool, stop, (fraction) => onProgress(index, fraction)).catch(toError),
    );
    for (const [index, file] of files.entries()) {
      const result = await work[index]!;
      stop.throwIfAborted();
      const failure = result instanceof Error ? result : await deliver(file, result, options, files.length > 1).catch(toError);
      if (failure) report(file, failure);
    }
  } finally {
    bar.close();
    await pool.close();
  }
}

function toError(error: Error): Error {
  return error;
}

function report(file: string, failure: Error): void {
  process.stderr.write(`${file}: ${sentence(failure)}\n`);
  process.exitCode = 1;
}

/** Throws if the file cannot be read, or its transcript cannot be written. */
async function checkAccess(file: string, options: TranscribeOptions): Promise<void> {
  await access(file, constants.R_OK);
  if (options.outputDir) await access(path.dirname(targetOf(file, options)), constants.W_OK);
}

async function transcribeFile(
  file: string,
  options: TranscribeOptions,
  settings: Settings,
  pool: Pool,
  signal: AbortSignal,
  onProgress: (fraction: number) => void,
): Promise<Transcript> {
  await checkAccess(file, options); // it may have changed since
  const { language, diarize, speakers = null } = options;
  const accurate = options.accurate ?? settings.LONGHAND_DECODING === 'accurate';
  const run = { signal, progress: (_stage: string, fraction: number) => onProgress(fraction) };
  return transcribe(file, { language, diarize, speakers, vocabulary: '', accurate }, run, pool).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOSPC'
      ? new Error(`Cannot store decoded audio in ${tmpdir()}: ${reason(error)}. ${ROOM}`, { cause: error })
      : error;
  });
}

async function deliver(
  file: string,
  transcript: Transcript,
  { format, words, outputDir }: TranscribeOptions,
  several: boolean,
): Promise<void> {
  if (transcript.diarizationError) process.stderr.write(`${file}: speaker diarization failed: ${transcript.diarizationError}\n`);
  const text = await render(transcript, path.basename(file), format, words ?? false);
  if (!outputDir) {
    process.stdout.write(several && format !== 'json' ? `==> ${file} <==\n${text}\n` : text);
    return;
  }
  const target = targetOf(file, { format, outputDir });
  await writeWhole(target, text);
  process.stdout.write(`${target}\n`);
}

/** Writes a file under a temporary name first, so that an existing file stays intact if the disk is full. */
async function writeWhole(target: string, text: string): Promise<void> {
  const part = path.join(path.dirname(target), `.longhand-${randomUUID()}`);
  try {
    await writeFile(part, text);
    await rename(part, target);
  } catch (error) {
    await rm(part, { force: true });
    throw new Error(`Cannot write ${target}: ${reason(error as Error)}`, { cause: error });
  }
}

/** The output path for a file. */
function targetOf(file: string, { format, outputDir }: Pick<TranscribeOptions, 'format' | 'outputDir'>): string {
  const folder = typeof outputDir === 'string' ? outputDir : path.dirname(file);
  return path.join(folder, `${path.parse(file).name}.${format}`);
}

/** Throws if two recordings would be written to the same file. */
function refuseSame(files: readonly string[], options: TranscribeOptions): void {
  const taken = new Map<string, string>();
  for (const file of files) {
    const target = path.resolve(targetOf(file, options));
    const other = taken.get(target);
    if (other) throw new Error(`Cannot write the transcripts of ${other} and ${file} to one file, ${target}: transcribe them separately`);
    taken.set(target, file);
  }
}
