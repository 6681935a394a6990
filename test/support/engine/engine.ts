import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { enqueue } from '../../../db/jobs/queue.ts';
import { openSpool } from '../../../db/spool/open.ts';
import type { Spool } from '../../../db/spool/spool.ts';
import { type TestDatabase, testDatabase } from '../databases/database.ts';
import { program, ROOT, type Running, start } from '../processes/processes.ts';
import { addTiny, shareFitted, TINY } from './models.ts';
import { type Bench, openBench } from './work.ts';

/** A database, a spool and real engines on them. */
export interface EngineBench extends Bench {
  spool: Spool;
  home: string;
  url: string;
  /** Starts an engine process with one thread and waits until it is ready; it logs JSON at level debug. */
  engine(env?: Record<string, string>): Promise<Running>;
  /** Starts a courier and waits until it is ready: it writes reports, titles and summaries, and delivers webhooks. */
  courier(env?: Record<string, string>): Promise<Running>;
  /** Puts a recording into the spool and queues it as an upload does: unprobed, unless `seconds` is its measured duration. */
  upload(workspaceId: string, bytes: Buffer, options?: UploadOptions): Promise<string>;
  /** Waits until the row satisfies `wanted`. Rejects with the current row after `seconds`. */
  until<T extends object = TranscriptionRow>(id: string, wanted: (row: T) => boolean, seconds?: number): Promise<T>;
  /** Files in the spool and in the scratch folders. */
  files(): Promise<string[]>;
}

interface UploadOptions {
  extension?: string;
  reports?: string[];
  aiMetadata?: boolean;
  seconds?: number | null;
  diarize?: boolean;
}

export interface TranscriptionRow {
  status: string;
  stage: string;
  fraction: number;
  error_code: string | null;
  attempt: number;
  deaths: number;
  engine_id: string | null;
}

interface Test {
  teardown(after: () => unknown): void;
  testdir(): string;
}

interface Options {
  /** Use this database instead of one on the shared server. */
  database?: TestDatabase;
  /** ASR model of the engines. TINY if words do not matter: it takes 33 % of the CPU time. */
  model?: string;
}

/** Pause until the next look at something that has not come for `elapsedMs`: a look at the database costs 1 to 2 ms of CPU time. */
export function pauseMs(elapsedMs: number): number {
  return Math.min(200, 20 + elapsedMs / 20);
}

/** Opens a database and a spool, closed at teardown; engines and couriers are started on request. */
export async function engineBench(t: Test, { database, model = 'whisper-base' }: Options = {}): Promise<EngineBench> {
  const { db, url } = database ?? (await testDatabase(t));
  const bench = await openBench(db);
  const home = t.testdir();
  const scratch = join(home, 'tmp');
  mkdirSync(scratch, { mode: 0o777 });
  shareFitted(home);
  if (model === TINY) await addTiny(home);
  const spool = await openSpool({ LONGHAND_HOME: home });
  return {
    ...bench,
    spool,
    home,
    url,
    async engine(env = {}) {
      const running = start(t, process.execPath, program('engine/main.ts'), {
        DATABASE_URL: url,
        LONGHAND_HOME: home,
        LONGHAND_MASTER_KEY: bench.masterKey,
        LOG_FORMAT: 'json',
        LOG_LEVEL: 'debug',
        LONGHAND_MODEL: model,
        LONGHAND_THREADS: '1', // each thread loads every model: 3 s of CPU time
        TMPDIR: scratch,
        ...env,
      });
      await running.said(/^working/m, 300_000); // for a busy machine
      return running;
    },
    async courier(env = {}) {
      const running = start(t, process.execPath, program('engine/courier/main.ts'), {
        DATABASE_URL: url,
        LONGHAND_HOME: home,
        LONGHAND_MASTER_KEY: bench.masterKey,
        LOG_FORMAT: 'json',
        LOG_LEVEL: 'debug',
        ...env,
      });
      await running.said(/^delivering/m);
      return running;
    },
    async upload(workspaceId, bytes, { extension = 'wav', reports = [], aiMetadata = false, seconds = null, diarize = true } = {}) {
      const id = randomUUID();
      const writer = await spool.create(id, extension);
      await writer.write(bytes);
      const { key } = await writer.finish();
      const media = { id, extension, key, bytes: bytes.length };
      await bench.transcription(workspaceId, { seconds, reports, aiMetadata, diarize, media });
      await db.acrossTenants((tx) => enqueue(tx, seconds === null ? 'probe' : 'dispatch', { id })); // else a heartbeat finds it, within 15 s
      return id;
    },
    async until<T extends object>(id: string, wanted: (row: T) => boolean, seconds = 300) {
      for (const began = Date.now(), end = began + seconds * 1000; ; await sleep(pauseMs(Date.now() - began))) {
        const row = await bench.row<T>('transcriptions', id);
        if (row && wanted(row)) return row;
        const { status, stage, fraction, error_code, attempt, deaths } = (row ?? {}) as TranscriptionRow;
        if (Date.now() > end)
          throw new Error(
            `Unexpected state after ${seconds} s: ${JSON.stringify({ status, stage, fraction, error_code, attempt, deaths })}`,
          );
      }
    },
    async files() {
      const memory = readdirSync('/dev/shm').filter((name) => name.startsWith('longhand-'));
      const [row] = await db.query<{ id: string }>('*', `select encode(value, 'hex') as id from facts where name = 'installation'`);
      const ours = memory
        .filter((name) => row && name.startsWith(`longhand-${row.id.slice(0, 12)}-`))
        .map((name) => join('/dev/shm', name));
      const found = [join(home, 'spool'), scratch, ...ours].flatMap(filesIn);
      return found.filter((path) => !path.includes('/tsx-')); // files of tsx, which runs the engine
    },
  };
}

/** Paths of the files in a folder, from which engines may remove others meanwhile. */
function filesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return existsSync(folder) ? filesIn(folder) : [];
  }
}

/** two-speakers.wav repeated `times` times, 20 s each. */
export function conversation(times: number): Promise<Buffer> {
  return recording((data) => Buffer.concat(Array.from({ length: times }, () => data)));
}

/** The first seconds of two-speakers.wav, for tests that need a transcription, but not its text or duration. */
export function excerpt(seconds = 3): Promise<Buffer> {
  return recording((data) => data.subarray(0, seconds * 32_000));
}

/** two-speakers.wav with other samples. */
async function recording(change: (data: Buffer) => Buffer): Promise<Buffer> {
  const wav = await readFile(join(ROOT, 'bench/data/two-speakers.wav'));
  const start = wav.indexOf('data') + 8;
  const data = change(wav.subarray(start));
  const head = Buffer.from(wav.subarray(0, start));
  head.writeUInt32LE(start - 8 + data.length, 4);
  head.writeUInt32LE(data.length, start - 4);
  return Buffer.concat([head, data]);
}

/** Phrases of `conversation` that a text contains; unencrypted data must not contain any. */
export function spokenIn(text: string): string[] {
  return ['account of himself', 'hugely pleased', 'my lady'].filter((words) => text.toLowerCase().includes(words));
}
