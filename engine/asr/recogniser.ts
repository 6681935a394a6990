import type { Descriptor } from '../../models/descriptor.ts';
import type { Interleaver } from '../runtime/scheduler.ts';
import type { Device } from '../runtime/session.ts';
import type { RecognisedWindow, WindowRequest } from './whisper/recognise.ts';

export type { RecognisedWindow, WindowRequest };

/** A recognition model held open on one thread, of whatever architecture. */
export interface Recogniser {
  /** The device really used. */
  readonly device: Device;
  /**
   * The words of one window. Several windows may be under way at once: they are decoded together. Throws what `check` throws, which is called
   * often, when the file is no longer wanted.
   */
  recognise(request: WindowRequest, check: () => void): Promise<RecognisedWindow>;
  close(): Promise<void>;
}

export interface RecogniserOptions {
  /** The model's folder, and what it says of itself. */
  folder: string;
  descriptor: Descriptor;
  device: Device;
  /** Windows decoded together. */
  rows: number;
  /** Lets other networks of the thread run between steps. */
  interleaver?: Interleaver;
}

/** Opens a model. Throws when a file is missing, or the device asked for is. */
export type OpenRecogniser = (options: RecogniserOptions) => Promise<Recogniser>;

/** Seconds of the longest window that a model takes. */
export function windowSeconds({ window }: Pick<Descriptor, 'window'>): number {
  return (window.steps * window.samplesPerStep) / window.sampleRate;
}
