import { isMainThread } from 'node:worker_threads';
import * as ort from 'onnxruntime-node';

export type Device = 'cpu' | 'cuda' | 'webgpu';
export type Tensor = ort.Tensor;
export type Feeds = Record<string, ort.Tensor>;
export type Fetches = Record<string, ort.Tensor | null>;

/** One network held open on one thread. `run` blocks that thread while it works, so call it from worker threads only. */
export interface Session {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Dimensions of an input: numbers, and the names of those that vary. */
  dimensions(input: string): readonly (number | string)[];
  /** The device really used. */
  readonly device: Device;
  /** Runs the network; `fetches` limits the outputs that are computed, and names memory that they are written into where it is not null. */
  run(feeds: Feeds, fetches?: Fetches): Promise<Record<string, ort.Tensor>>;
  close(): Promise<void>;
}

export interface SessionOptions {
  /** Threads inside one operator. 1: several worker threads with one each are 33 % faster (docs/decisions/speech-recognition.md). */
  threads?: number;
  device?: Device;
  /** Path, without its end, of a file in which the runtime notes the time of every operator; written by `close`. */
  profile?: string;
  /**
   * Whether the memory of one run is kept for the next. An arena holds what its largest run took, in powers of two, for good: 45 MB for the encoder of base.
   * The encoder takes 1.7 % less time with it, the decoder 2 %; models whose sizes vary or which run seldom gain nothing.
   */
  arena?: boolean;
}

hideHalves();
let closing: Int32Array | undefined;
let running = 0;

/** No network of this thread is opened or begins to run any more once `flag[0]` is 1: a thread that is ended inside a network takes the whole process along. */
export function closeWith(flag: Int32Array): void {
  closing = flag;
}

/** Resolves when no network of this thread runs or is being opened. */
export async function networksIdle(): Promise<void> {
  while (running) await new Promise((resolve) => setImmediate(resolve));
}

async function counted<T>(use: () => Promise<T>): Promise<T> {
  if (closing && Atomics.load(closing, 0) === 1) throw new Error('Cannot use the network: its thread is being closed');
  running++;
  try {
    return await use();
  } finally {
    running--;
  }
}

const SILENCE = 'ORT_DISABLE_TELEMETRY';

/**
 * Keeps the runtime from telling its maker what it runs, on which processor and under which lasting number, as it does from 1.29 on unless this is set
 * when it starts (see Privacy in the documentation of microsoft/onnxruntime). It reads the variables of the process, and those only the main thread can set.
 */
export function silenceRuntime(): void {
  process.env[SILENCE] = '1';
}

/** Opens a network, a file or its bytes. Throws when the device asked for is missing: never falls back in silence. */
export async function openSession(network: string | Uint8Array, options: SessionOptions = {}): Promise<Session> {
  if (isMainThread) silenceRuntime();
  else if (process.env[SILENCE] !== '1')
    throw new Error(`Cannot open a network: the main thread has not set ${SILENCE}, so it would be reported`);
  const device = options.device ?? 'cpu';
  const inference = await counted(() =>
    ort.InferenceSession.create(network as string, {
      executionProviders: [device],
      intraOpNumThreads: options.threads ?? 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      graphOptimizationLevel: 'all',
      enableCpuMemArena: options.arena ?? false,
      logSeverityLevel: 3,
      ...(options.profile ? { enableProfiling: true, profileFilePrefix: options.profile } : {}),
      extra: { session: { intra_op: { allow_spinning: '0' } } },
    }),
  );
  return sessionOf(inference, device, options.profile);
}

/** A function of its own: closures of `openSession` would keep the bytes of the model alive, 12 MB for speaker embeddings on every thread. */
function sessionOf(inference: ort.InferenceSession, device: Device, profile?: string): Session {
  const dimensions = new Map(inference.inputMetadata.map((input) => [input.name, input.isTensor ? input.shape : []]));
  return {
    inputs: inference.inputNames,
    outputs: inference.outputNames,
    dimensions: (input) => dimensions.get(input) ?? [],
    device,
    run: (feeds, fetches) =>
      counted(async () => (await (fetches ? inference.run(feeds, fetches) : inference.run(feeds))) as Record<string, ort.Tensor>),
    close: async () => {
      if (profile) inference.endProfiling();
      await inference.release();
    },
  };
}

export function float32(data: Float32Array, dims: readonly number[]): ort.Tensor {
  return new ort.Tensor('float32', data, dims);
}

export function int64(data: BigInt64Array, dims: readonly number[]): ort.Tensor {
  return new ort.Tensor('int64', data, dims);
}

export function int8(data: Int8Array, dims: readonly number[]): ort.Tensor {
  return new ort.Tensor('int8', data, dims);
}

/** A tensor over `data` of any type, without a copy. */
export function tensor(type: ort.Tensor.Type, data: ort.Tensor.DataType, dims: readonly number[]): ort.Tensor {
  return new ort.Tensor(type, data, dims);
}

/**
 * Makes the runtime take half-precision values as Uint16Array everywhere: where JavaScript has arrays for them (Node 24) it uses those, and its native
 * part sees no values in them. It looks once, when the first tensor is made.
 */
function hideHalves(): void {
  const halves = Object.getOwnPropertyDescriptor(globalThis, 'Float16Array');
  if (!halves?.configurable) return;
  Reflect.deleteProperty(globalThis, 'Float16Array');
  try {
    new ort.Tensor('float16', new Uint16Array(1), [1]);
  } finally {
    Object.defineProperty(globalThis, 'Float16Array', halves);
  }
}
