import { workerData } from 'piscina';
import { type Descriptor, readDescriptor, rowsOf } from '../../models/descriptor.ts';
import type { DiarizationNetworks } from '../../models/networks.ts';
import { openRecogniser } from '../asr/families.ts';
import { inParts } from '../asr/parts.ts';
import { type RecognisedWindow, type Recogniser, type WindowRequest, windowSeconds } from '../asr/recogniser.ts';
import { embed as embedPieces } from '../diarization/embedding.ts';
import { type LinkageOptions, link as linkRows, type Rows } from '../diarization/linkage.ts';
import type { Local } from '../diarization/pyannote.ts';
import { segment as segmentWindows } from '../diarization/segmentation.ts';
import { Loaded } from './loaded.ts';
import { Interleaver } from './scheduler.ts';
import { closeWith, type Device, networksIdle, openSession, type Session } from './session.ts';

/** A model beside the resident one, loaded on demand. */
export interface OtherModel {
  folder: string;
  descriptor: Descriptor;
}

/** Data passed to every thread at its start. */
export interface WorkerData {
  /** Folder of the ASR model, and its descriptor. */
  whisper: string;
  descriptor: Descriptor;
  diarization: DiarizationNetworks;
  device: Device;
  /** Batch size of the decoder. */
  rows: number;
  /** By name, with the memory for those loaded on this thread. */
  others: Record<string, OtherModel>;
  othersBytes: number;
  /** [2]: set to 1 before the threads are terminated; number of threads that are idle. */
  closing: Int32Array;
}

/** One unit of work of a file. `first`: among the first of its file and kind. `stop` [1] becomes 1 when the file is cancelled. */
export interface ThreadTask<T> {
  job: number;
  first: boolean;
  stop: Int32Array;
  work: T;
}

/** Errors are passed between threads as data, because an Error object would lose its class and code. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; code: string; message: string };

const STOPPED = 'STOPPED';
const IDLE_MS = 10 * 60_000; // loading takes seconds, and memory that is needed elsewhere is freed by then
const RETRY_MS = 60_000;
const data = workerData as WorkerData;
closeWith(data.closing);
const interleaver = new Interleaver();
const recogniser = once(() =>
  openRecogniser({ folder: data.whisper, descriptor: data.descriptor, device: data.device, rows: data.rows, interleaver }),
);
const others = new Loaded<OtherModel & { bytes: number }, Recogniser>({
  bytes: data.othersBytes,
  idleMs: IDLE_MS,
  retryMs: RETRY_MS,
  open: openOther,
  close: (opened) => opened.close(),
});
const segmentation = once(() => openShared(data.diarization.segmentation));
const embedding = once(() => openShared(data.diarization.voice));

/** Loads a model on the CPU. onnxruntime reads no shared memory, so from a copy. */
function openShared(network: Uint8Array): Promise<Session> {
  return openSession(network.slice(), { device: 'cpu' });
}

/** Loads every model on this thread. Returns the device that speech recognition uses. */
export function open(): Promise<Outcome<Device>> {
  return outcome(async () => {
    const [{ device }] = await Promise.all([recogniser(), segmentation(), embedding()]);
    return device;
  });
}

let rested = false;

/** Waits for the running model, counts this thread in `closing[1]`, and answers. After `closing[0]` is set no model starts. */
export function rest(): Promise<Outcome<null>> {
  return outcome(async () => {
    await networksIdle();
    if (!rested) Atomics.add(data.closing, 1, 1);
    rested = true;
    return null;
  });
}

export function recognise({
  job,
  first,
  stop,
  work: { model, ...window },
}: ThreadTask<Omit<WindowRequest, 'job' | 'first'> & { model?: string }>): Promise<Outcome<RecognisedWindow>> {
  const request = { ...window, job, first };
  if (model === undefined) return outcome(async () => (await recogniser()).recognise(request, () => check(stop)));
  return outcome(async () => {
    const other = data.others[model]!;
    check(stop);
    return others.use(model, { ...other, bytes: other.descriptor.memory.thread }, async (opened) => {
      await interleaver.enter(job, first);
      return opened.recognise(request, () => check(stop));
    });
  });
}

/** Opens a model that is loaded on demand: on the device of the resident one if it can run there. */
async function openOther({ folder }: OtherModel): Promise<Recogniser> {
  const descriptor = readDescriptor(folder); // of the files that are there now: another import may have taken the name since the start
  const device = descriptor.devices.includes(data.device) ? data.device : 'cpu';
  const opened = await openRecogniser({ folder, descriptor, device, rows: rowsOf(descriptor, device), interleaver });
  return inParts(opened, windowSeconds(descriptor));
}

export function segment(task: ThreadTask<Float32Array[]>): Promise<Outcome<Local[]>> {
  return outcome(() => using(segmentation, task, (session) => segmentWindows(session, task.work)));
}

export function embed(task: ThreadTask<Float32Array[]>): Promise<Outcome<Float32Array[]>> {
  return outcome(() => using(embedding, task, (session) => embedPieces(session, task.work)));
}

/** Speaker embeddings to cluster. */
export interface Linking {
  means: Rows;
  weights: Float64Array;
  options: LinkageOptions;
}

export function link({ stop, work: { means, weights, options } }: ThreadTask<Linking>): Promise<Outcome<Int32Array>> {
  return outcome(async () => {
    check(stop);
    return linkRows(means, weights, options);
  });
}

async function using<T, W>(open: () => Promise<Session>, task: ThreadTask<W>, run: (session: Session) => Promise<T>): Promise<T> {
  const { job, first, stop } = task;
  const session = await open();
  await interleaver.enter(job, first);
  check(stop);
  return run(session);
}

function check(stop: Int32Array): void {
  if (Atomics.load(stop, 0) === 1) throw Object.assign(new Error('the file was cancelled'), { code: STOPPED });
}

async function outcome<T>(run: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await run() };
  } catch (error) {
    const { code = 'ENGINE_ERROR', message = String(error) } = error as { code?: string; message?: string };
    return { ok: false, code: String(code), message };
  }
}

/** Opens something on first use and keeps the result, including a failure. */
function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => (opened ??= open());
}
