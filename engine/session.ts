import * as ort from 'onnxruntime-node';

export type Device = 'cpu' | 'cuda' | 'webgpu';
export type Tensor = ort.Tensor;
export type Feeds = Record<string, ort.Tensor>;

/** One network held open on one thread. `run` blocks that thread while it works, so call it from worker threads only. */
export interface Session {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** The device really used. */
  readonly device: Device;
  /** Runs the network; `fetches` limits the outputs that are computed and copied. */
  run(feeds: Feeds, fetches?: readonly string[]): Promise<Record<string, ort.Tensor>>;
  close(): Promise<void>;
}

export interface SessionOptions {
  /** Threads inside one operator. 1: parallelism comes from several worker threads, a third faster than threads inside (engine.md). */
  threads?: number;
  device?: Device;
}

/** Opens a network. Throws when the device asked for is missing: never falls back in silence. */
export async function openSession(path: string, options: SessionOptions = {}): Promise<Session> {
  const device = options.device ?? 'cpu';
  const inference = await ort.InferenceSession.create(path, {
    executionProviders: [device],
    intraOpNumThreads: options.threads ?? 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  });
  return {
    inputs: inference.inputNames,
    outputs: inference.outputNames,
    device,
    run: (feeds, fetches) => (fetches ? inference.run(feeds, fetches) : inference.run(feeds)) as Promise<Record<string, ort.Tensor>>,
    close: () => inference.release(),
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
