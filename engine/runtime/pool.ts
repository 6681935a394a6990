import { setMaxListeners } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { type Descriptor, languagesOf, readDescriptor, rowsOf } from '../../models/descriptor.ts';
import { diarizationNetworks } from '../../models/networks.ts';
import { type RecognisedWindow, type WindowRequest, windowSeconds } from '../asr/recogniser.ts';
import type { Linker } from '../diarization/linkage.ts';
import type { Local } from '../diarization/pyannote.ts';
import type { Routes } from '../types.ts';
import { BufferPool } from './buffers.ts';
import { gpuMemory } from './gpu-memory.ts';
import { readMachine } from './machine.ts';
import { memoryOf } from './memory.ts';
import { FairQueue, FIRST_UNITS, type Kind, placesOn } from './scheduler.ts';
import { type Device, silenceRuntime } from './session.ts';
import type { Outcome, ThreadTask, WorkerData } from './worker.ts';

export interface PoolOptions {
  /** Folders of the ASR model and of the diarization models, and the state folder that keeps their conversions, if any. */
  models: { whisper: string; diarization: string; home?: string };
  /** Models for some languages, by name: their folders. Threads load them on demand. */
  others?: Readonly<Record<string, string>>;
  /** Which of them recognises what; absent: the resident model recognises everything. */
  routes?: Routes;
  /** Default: one per core as far as memory allows; with CUDA at most 8, as far as the GPU's memory allows, always 1 with WebGPU. */
  threads?: number;
  device?: Device;
  /** Batch size: windows decoded together on one thread. Default: the model's. */
  rows?: number;
}

/** The worker threads of one engine. Files are interleaved in units of less than two seconds. */
export interface Pool {
  readonly threads: number;
  /** Peak memory of all threads, as measured; where memory is short, fewer threads are started. */
  readonly memoryBytes: number;
  /** Windows of one file that keep all threads busy. */
  readonly concurrency: number;
  /** The longest window that the ASR model accepts. */
  readonly windowSeconds: number;
  /** The device that speech recognition actually uses. */
  readonly device: Device;
  /** Codes of the languages that the ASR models recognise. */
  readonly languages?: readonly string[];
  /** ASR models by language; absent: one for all. */
  readonly routes?: Routes;
  /** Registers a file. Its work stops within two seconds of `signal` aborting. */
  job(signal: AbortSignal): Job;
  close(): Promise<void>;
}

/** A window whose samples are loaded lazily. `read` fills the buffer and returns the filled part. */
export type UnreadWindow = Omit<WindowRequest, 'job' | 'first' | 'samples'> & {
  read: (buffer: Float32Array) => Promise<Float32Array>;
  /** Name of another model to recognise it. */
  model?: string;
};

/**
 * The work of one file. When the signal aborts, everything rejects with its reason once no thread uses the samples any more. Put samples in
 * `sharedSamples` memory: other arrays are copied.
 */
export interface Job {
  readonly signal: AbortSignal;
  recognise(window: UnreadWindow): Promise<RecognisedWindow>;
  segment(windows: Float32Array[]): Promise<Local[]>;
  embed(pieces: Float32Array[]): Promise<Float32Array[]>;
  link: Linker;
}

/** A unit that failed on a thread. `code` is STOPPED or that of the original error. */
export class EngineError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'EngineError';
    this.code = code;
  }
}

const REST_MS = 10_000; // for units still running when the pool is closed
const NURSERY = 8; // MB, V8's young generation per thread: the default of up to 48 gains nothing, since few objects survive
const MOST = 1000; // piscina's own queue limit, high enough never to apply

/** Starts the threads and loads the models. Throws if a model or the requested device is missing. */
export async function openPool({
  models,
  others: folders = {},
  routes,
  threads: asked,
  device = 'cpu',
  rows: askedRows,
}: PoolOptions): Promise<Pool> {
  const descriptor = descriptorOf(models.whisper);
  const rows = askedRows ?? rowsOf(descriptor, device);
  const others = Object.fromEntries(Object.entries(folders).map(([name, folder]) => [name, { folder, descriptor: descriptorOf(folder) }]));
  const gpu = device === 'cuda' && asked === undefined ? gpuMemory(descriptor, rows) : null;
  const memory = memoryOf(descriptor, others, readMachine(), device, asked, gpu);
  const { threads, othersBytes } = memory;
  silenceRuntime();
  const closing = new Int32Array(new SharedArrayBuffer(8));
  const diarization = await diarizationNetworks(models.diarization, models.home);
  const workerData: WorkerData = { whisper: models.whisper, descriptor, diarization, device, rows, closing, others, othersBytes };
  const piscina = new Piscina({
    filename: fileURLToPath(new URL('./worker.mjs', import.meta.url)),
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: MOST,
    atomics: 'disabled',
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb: NURSERY },
  });
  const onEach = <T>(name: 'open' | 'rest') => Promise.all(Array.from({ length: threads }, () => run<T>(piscina, name)));
  const close = async () => {
    Atomics.store(closing, 0, 1);
    const end = performance.now() + REST_MS;
    try {
      while (Atomics.load(closing, 1) < threads && performance.now() < end) await onEach('rest'); // a thread may answer twice, another not at all
    } finally {
      await piscina.destroy();
    }
  };
  try {
    const [used] = await onEach<Device>('open');
    const places = placesOn(threads, rows);
    const queues = mapKinds(places, (count) => new FairQueue(count));
    const buffers = new BufferPool(descriptor.window.steps * descriptor.window.samplesPerStep);
    let count = 0;
    return {
      threads,
      memoryBytes: memory.bytes,
      concurrency: places.recognise,
      device: used!,
      languages: [descriptor, ...Object.values(others).map(({ descriptor }) => descriptor)].flatMap(languagesOf),
      routes,
      windowSeconds: windowSeconds(descriptor),
      job: (signal) => openJob(piscina, queues, buffers, ++count, signal),
      close,
    };
  } catch (error) {
    await close().catch(() => {}); // the first error is the more useful one
    throw error;
  }
}

function mapKinds<T>(places: Readonly<Record<Kind, number>>, make: (count: number) => T): Record<Kind, T> {
  return Object.fromEntries(Object.entries(places).map(([kind, count]) => [kind, make(count)])) as Record<Kind, T>;
}

function openJob(piscina: Piscina, queues: Record<Kind, FairQueue>, buffers: BufferPool, job: number, signal: AbortSignal): Job {
  const stop = new Int32Array(new SharedArrayBuffer(4));
  setMaxListeners(0, signal); // every waiting unit adds a listener
  if (signal.aborted) Atomics.store(stop, 0, 1);
  else signal.addEventListener('abort', () => Atomics.store(stop, 0, 1), { once: true });
  const asked = { recognise: 0, segment: 0, embed: 0, link: 0 };
  const ask = async <T>(name: Kind, prepare: (send: (work: unknown) => Promise<T>) => Promise<T>): Promise<T> => {
    const first = ++asked[name] <= FIRST_UNITS[name];
    const leave = await queues[name].enter(job, signal);
    try {
      return await prepare((work) => run<T>(piscina, name, { job, first, stop, work } satisfies ThreadTask<unknown>));
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      leave();
    }
  };
  return {
    signal,
    recognise: ({ read, ...window }) => {
      const work = ask<RecognisedWindow>('recognise', (send) =>
        buffers.lend(async (buffer) => send({ ...window, samples: await read(buffer) })),
      );
      return window.model === undefined ? work : unlessAborted(work, signal); // which may have to be loaded: seconds
    },
    segment: (windows) => ask('segment', (send) => send(windows)),
    embed: (pieces) => ask('embed', (send) => send(pieces)),
    link: (means, weights, options) => ask('link', (send) => send({ means, weights, options })),
  };
}

/** The result of `work`, or the signal's reason as soon as it aborts. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let abandon = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abandon = () => reject(signal.reason);
    if (signal.aborted) abandon();
    else signal.addEventListener('abort', abandon, { once: true });
  });
  work.catch(() => {}); // after an abort
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abandon);
  }
}

async function run<T>(piscina: Piscina, name: Kind | 'open' | 'rest', task: unknown = null): Promise<T> {
  const outcome = (await piscina.run(task, { name })) as Outcome<T>;
  if (outcome.ok) return outcome.value;
  throw new EngineError(outcome.code, outcome.message);
}

/** Reads a model's descriptor. Errors have the class of those from the threads. */
function descriptorOf(folder: string): Descriptor {
  try {
    return readDescriptor(folder);
  } catch (error) {
    const { code = 'ENGINE_ERROR', message } = error as { code?: string; message: string };
    throw new EngineError(code, message);
  }
}
