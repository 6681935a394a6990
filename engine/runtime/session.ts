import { isMainThread } from 'node:worker_threads';
import * as ort from 'onnxruntime-node';

export type Device = 'cpu' | 'cuda' | 'webgpu';
export type Tensor = ort.Tensor;
export type Feeds = Record<string, ort.Tensor>;
export type Fetches = Record<string, ort.Tensor | null>;

/** A model loaded on one thread. `run` blocks that thread, so call it on worker threads only. */
export interface Session {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Dimensions of an input: numbers, or names where they vary. */
  dimensions(input: string): readonly (number | string)[];
  /** The device in use. */
  readonly device: Device;
  /** Runs the model. `fetches` selects the outputs to compute; a value that is not null is the memory to write that output to. */
  run(feeds: Feeds, fetches?: Fetches): Promise<Record<string, ort.Tensor>>;
  close(): Promise<void>;
}

export interface SessionOptions {
  /** Threads per operator. Several worker threads with 1 each are 33 % faster (docs/decisions/speech-recognition.md). */
  threads?: number;
  device?: Device;
  /** Path, without its extension, of a file for the profile of every operator; written by `close`. */
  profile?: string;
  /**
   * Whether to keep onnxruntime's memory arena between runs. The arena holds the peak of its largest run, rounded up to powers of two,
   * until the session is closed: 45 MB for the base encoder. It saves 1.7 % of the encoder's time and 2 % of the decoder's; models with
   * variable sizes or few runs gain nothing.
   */
  arena?: boolean;
}

hideHalves();
let closing: Int32Array | undefined;
let running = 0;

/** Once `flag[0]` is 1, no model on this thread is loaded or run. Terminating a thread inside a model run crashes the process. */
export function closeWith(flag: Int32Array): void {
  closing = flag;
}

/** Resolves when no model on this thread is running or being loaded. */
export async function networksIdle(): Promise<void> {
  while (running) await new Promise((resolve) => setImmediate(resolve));
}

async function counted<T>(use: () => Promise<T>): Promise<T> {
  if (closing && Atomics.load(closing, 0) === 1) throw new Error('Cannot use the model: its thread is being closed');
  running++;
  try {
    return await use();
  } finally {
    running--;
  }
}

const SILENCE = 'ORT_DISABLE_TELEMETRY';

/**
 * Disables onnxruntime's telemetry, which from 1.29 on reports models, processor and a persistent id to Microsoft unless this is set before
 * it is loaded (see Privacy in the documentation of microsoft/onnxruntime). It reads the process environment, which only the main thread
 * can change.
 */
export function silenceRuntime(): void {
  process.env[SILENCE] = '1';
}

/** Loads a model from a file or from bytes. Throws if the requested device is missing: there is no silent fallback. */
export async function openSession(network: string | Uint8Array, options: SessionOptions = {}): Promise<Session> {
  if (isMainThread) silenceRuntime();
  else if (process.env[SILENCE] !== '1')
    throw new Error(`Cannot load a model: the main thread has not set ${SILENCE}, so telemetry would be sent`);
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
  ).catch((error: Error) => {
    throw typeof network === 'string' ? damaged(network, error) : error;
  });
  return sessionOf(inference, device, options.profile);
}

/** The error for a file that is missing or cut short; others as they are. */
function damaged(network: string, cause: Error): Error {
  const found = /Protobuf parsing failed|File doesn't exist|ModelProto does not have a graph/.exec(cause.message)?.[0];
  if (!found) return cause;
  const remedy = '"longhand models verify" names damaged files; restore them, or import the model again';
  return new Error(`Cannot load ${network}: it is missing or damaged (${found}); ${remedy}`, { cause });
}

/**
 * A separate function, because closures created in `openSession` would keep the model's bytes alive: 12 MB per thread for speaker
 * embeddings.
 */
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

/** Creates a tensor over `data` without a copy. */
export function tensor(type: ort.Tensor.Type, data: ort.Tensor.DataType, dims: readonly number[]): ort.Tensor {
  return new ort.Tensor(type, data, dims);
}

/**
 * Makes onnxruntime use Uint16Array for half-precision values everywhere. Where Float16Array exists (Node 24) it would use that, but its
 * native part reads no values from it. It checks once, when the first tensor is created.
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
