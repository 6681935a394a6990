import { setMaxListeners } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Piscina } from 'piscina';
import { type Descriptor, readDescriptor } from '../../models/descriptor.ts';
import { type RecognisedWindow, type WindowRequest, windowSeconds } from '../asr/recogniser.ts';
import type { Linker } from '../diarization/linkage.ts';
import type { Local } from '../diarization/segmentation.ts';
import { BufferPool } from './buffers.ts';
import { readMachine, threadsFor } from './machine.ts';
import { FairQueue, FIRST_UNITS, type Kind, placesOn } from './scheduler.ts';
import { type Device, silenceRuntime } from './session.ts';
import type { Outcome, ThreadTask, WorkerData } from './worker.ts';

export interface PoolOptions {
  /** Folders of the ASR model and of the diarization models. */
  models: { whisper: string; diarization: string };
  /** Default: one for each core, as far as the memory reaches; on a GPU at most 4. */
  threads?: number;
  device?: Device;
  /** Windows that one thread decodes together. Default: those of the model's recipe. */
  rows?: number;
}

/** The threads of one engine. Files take turns on them, in units of under a second or two. */
export interface Pool {
  readonly threads: number;
  /** What they take at most, by experience; where there is less for each, there are fewer of them. */
  readonly memoryBytes: number;
  /** Windows of one file that keep all threads busy. */
  readonly concurrency: number;
  /** Of the longest window that the recognition model takes. */
  readonly windowSeconds: number;
  /** The device that recognition really uses. */
  readonly device: Device;
  /** A file's place among the others. Its work stops within two seconds when `signal` aborts. */
  job(signal: AbortSignal): Job;
  close(): Promise<void>;
}

/** A window without its samples, which are read when its turn has come: into the memory given, of which that part is returned that they fill. */
export type UnreadWindow = Omit<WindowRequest, 'job' | 'first' | 'samples'> & { read: (buffer: Float32Array) => Promise<Float32Array> };

/**
 * The work of one file. Everything rejects with the signal's reason once it has aborted and no thread looks at it any more. Samples are best in
 * memory of `sharedSamples`, which the threads share: other arrays are copied.
 */
export interface Job {
  recognise(window: UnreadWindow): Promise<RecognisedWindow>;
  segment(windows: Float32Array[]): Promise<Local[]>;
  embed(pieces: Float32Array[]): Promise<Float32Array[]>;
  link: Linker;
}

/** Work that a thread could not do. `code` is STOPPED or that of the original failure. */
export class EngineError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'EngineError';
    this.code = code;
  }
}

const REST_MS = 10_000; // for models that still run when the pool is closed
const NURSERY = 8; // MB of new objects on a thread: V8 takes up to 48, for nothing: a thread makes few that last
const ON_DEVICE = 4; // threads: each holds the model in the memory of the device, which they share
const OTHER_NETWORKS_BYTES = 0.3 * 2 ** 30;
const MOST = 1000; // piscina's own limit must never hold anything back

/** Starts the threads and loads the models on them. Throws when a model or the device asked for is missing. */
export async function openPool({ models, threads: asked, device = 'cpu', rows: askedRows }: PoolOptions): Promise<Pool> {
  const descriptor = descriptorOf(models.whisper);
  const rows = askedRows ?? descriptor.recipe.rows;
  const each = OTHER_NETWORKS_BYTES + descriptor.memory.thread;
  const fitting = threadsFor(readMachine(), each);
  const threads = asked ?? (device === 'cpu' ? fitting : Math.min(fitting, ON_DEVICE));
  silenceRuntime();
  // A thread's heap is small, what it holds outside is not: V8 would mark it anew for every few megabytes of that, a tenth of all processor time.
  setFlagsFromString('--no-incremental-marking');
  const closing = new Int32Array(new SharedArrayBuffer(8));
  const workerData: WorkerData = { ...models, descriptor, device, rows, closing };
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
      while (Atomics.load(closing, 1) < threads && performance.now() < end) await onEach('rest'); // one thread may answer for another
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
      memoryBytes: threads * each,
      concurrency: places.recognise,
      device: used!,
      windowSeconds: windowSeconds(descriptor),
      job: (signal) => openJob(piscina, queues, buffers, ++count, signal),
      close,
    };
  } catch (error) {
    await close().catch(() => {}); // what went wrong first says more
    throw error;
  }
}

function mapKinds<T>(places: Readonly<Record<Kind, number>>, make: (count: number) => T): Record<Kind, T> {
  return Object.fromEntries(Object.entries(places).map(([kind, count]) => [kind, make(count)])) as Record<Kind, T>;
}

function openJob(piscina: Piscina, queues: Record<Kind, FairQueue>, buffers: BufferPool, job: number, signal: AbortSignal): Job {
  const stop = new Int32Array(new SharedArrayBuffer(4));
  setMaxListeners(0, signal); // every unit that waits listens
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
    recognise: ({ read, ...window }) =>
      ask('recognise', (send) => buffers.lend(async (buffer) => send({ ...window, samples: await read(buffer) }))),
    segment: (windows) => ask('segment', (send) => send(windows)),
    embed: (pieces) => ask('embed', (send) => send(pieces)),
    link: (means, weights, options) => ask('link', (send) => send({ means, weights, options })),
  };
}

async function run<T>(piscina: Piscina, name: Kind | 'open' | 'rest', task: unknown = null): Promise<T> {
  const outcome = (await piscina.run(task, { name })) as Outcome<T>;
  if (outcome.ok) return outcome.value;
  throw new EngineError(outcome.code, outcome.message);
}

/** What a model says of itself; a failure has the class of those on the threads. */
function descriptorOf(folder: string): Descriptor {
  try {
    return readDescriptor(folder);
  } catch (error) {
    const { code = 'ENGINE_ERROR', message } = error as { code?: string; message: string };
    throw new EngineError(code, message);
  }
}
