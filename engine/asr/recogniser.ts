import type { Descriptor } from '../../models/descriptor.ts';
import type { Interleaver } from '../runtime/scheduler.ts';
import type { Device } from '../runtime/session.ts';
import type { RecognisedWindow, WindowRequest } from './whisper/recognise.ts';

export type { RecognisedWindow, WindowRequest };

/** An ASR model loaded on one thread, of any architecture. */
export interface Recogniser {
  /** The device in use. */
  readonly device: Device;
  /**
   * The words of one window. Several windows may be in progress at once: they are decoded as a batch. Throws what `check` throws, which is
   * called often, when the file is cancelled.
   */
  recognise(request: WindowRequest, check: () => void): Promise<RecognisedWindow>;
  close(): Promise<void>;
}

export interface RecogniserOptions {
  /** The model's folder and descriptor. */
  folder: string;
  descriptor: Descriptor;
  device: Device;
  /** Batch size. */
  rows: number;
  /** Lets other models of the thread run between steps. */
  interleaver?: Interleaver;
}

/** Opens a model. Throws if a file or the requested device is missing. */
export type OpenRecogniser = (options: RecogniserOptions) => Promise<Recogniser>;

/** Length of a model's longest window, seconds. */
export function windowSeconds({ window }: Pick<Descriptor, 'window'>): number {
  return (window.steps * window.samplesPerStep) / window.sampleRate;
}
