import type { Architecture, Descriptor, DescriptorOf } from '../../models/descriptor.ts';
import type { Interleaver } from '../runtime/scheduler.ts';
import type { Device } from '../runtime/session.ts';
import type { Span } from '../types.ts';

/** One window to recognise. Spans are seconds of the window. */
export interface WindowRequest {
  /** The file it belongs to. */
  job: number;
  /** At 16 kHz, in [-1, 1); at most the model's window. */
  samples: Float32Array;
  speech: Span[];
  /** Highest speech probability inside. */
  peak: number;
  /** Speech probability per 0.1 s; absent: no speech counts as certain. */
  certainty?: Float32Array;
  /** ISO code, or 'auto'. A model that does not know the language uses its own. */
  language: string;
  /** With 'auto', the recording's language, used unless the window is clearly in another one; null: unknown. */
  expected: string | null;
  /** Names and terms to prefer, separated by commas; Whisper and CTC models can. */
  vocabulary: string;
  /** Use beam search where the model is uncertain; only Whisper can. */
  accurate: boolean;
  /** Among the first windows of its file: these take priority. */
  first?: boolean;
  /** With 'auto', languages in which the window is left to another model, without words; only Whisper, which detects the language, can. */
  leave?: readonly string[];
}

export interface RecognisedWindow {
  words: Spoken[];
  /** The language it was recognised in; null: the model knows several and does not say which. */
  language: string | null;
  /** The most probable languages with their probabilities, best first; empty for English-only Whisper, and with `language` null. */
  languages: [code: string, probability: number][];
  /** Probability that nobody speaks; 0 from models that do not tell. */
  noSpeech: number;
  /** Mean log-probability of the tokens. */
  meanLogProb: number;
  /** Names of the decoding options that were tried, in order. */
  tried: string[];
  /** Seconds of speech without words after all retries. */
  uncovered: number;
  /** The language changes within the window; `languages` are then those of its parts, by their share of the speech. */
  mixed?: boolean;
  /** These parts, in order, if the language changes. */
  parts?: LanguageSpan[];
  /** It is in one of the languages to leave: nothing was decoded. */
  left?: boolean;
}

/** The part of a window in one language. */
export interface LanguageSpan {
  language: string;
  span: Span;
}

/** A word in seconds of its window. `text` begins with a space in languages that use them. */
export interface Spoken extends Span {
  text: string;
  /** How probable it is that the word is right, 0 to 1. */
  probability: number;
}

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

export interface RecogniserOptions<A extends Architecture = Architecture> {
  /** The model's folder and descriptor. */
  folder: string;
  descriptor: DescriptorOf<A>;
  device: Device;
  /** Batch size. */
  rows: number;
  /** Lets other models of the thread run between steps. */
  interleaver?: Interleaver;
}

/** Opens a model. Throws if a file or the requested device is missing. */
export type OpenRecogniser<A extends Architecture> = (options: RecogniserOptions<A>) => Promise<Recogniser>;

/** Length of a model's longest window, seconds. */
export function windowSeconds({ window }: Pick<Descriptor, 'window'>): number {
  return (window.steps * window.samplesPerStep) / window.sampleRate;
}
