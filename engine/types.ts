/* Types shared by the stages of the engine. A leaf: imports nothing but the sample rate. Times are seconds of the recording unless noted otherwise. */

export { SAMPLE_RATE } from '../models/sample-rate.ts';

/** Values of a window's `certainty` per second. */
export const CERTAINTY_RATE = 10;

/** A time span; `end` is exclusive. */
export interface Span {
  start: number;
  end: number;
}

/**
 * One spoken word. `text` begins with a space in languages that use them, as in Whisper's tokens: concatenating texts gives the sentence.
 */
export interface Word extends Span {
  text: string;
  /** How probable it is that the word is right, 0 to 1: calibrated for Whisper, of other models the mean probability of its tokens. */
  probability: number;
  /** Index of its channel; only for stereo calls. */
  channel?: number;
}

/** A span in which one speaker is active. Turns of different speakers may overlap. `speaker` counts from 0 in order of first appearance. */
export interface Turn extends Span {
  speaker: number;
}

/** One entry of the transcript: words of one speaker without a long pause. `speaker` is null if not diarized. */
export interface Segment extends Span {
  /** 1, 2, 3 … */
  id: number;
  speaker: number | null;
  text: string;
  words: Word[];
}

/** The track a channel comes from. */
export interface Origin {
  track: number;
  /** Default track of players. */
  default: boolean;
  /** As declared by the container, or null. */
  language: string | null;
}

/** The channels of a track with surround sound, in ffmpeg's order: front left, front right, front centre, low frequencies, others. */
export interface Surround {
  channels: readonly number[];
  /** By a codec of films and broadcasts, whatever the channels; else declared, perhaps by a program that only counted them. */
  film: boolean;
}

/** A decoded recording: 16 kHz samples on disk or in memory, read by range, never loaded whole. */
export interface Recording {
  readonly channels: number;
  /** Origin of each channel; absent: all from one track. */
  readonly origins?: readonly Origin[];
  /** Tracks with surround sound. */
  readonly surround?: readonly Surround[];
  /** Samples [start, end) in which all channels have the same mix: of files within the file that have other channels. */
  readonly mixes?: readonly { start: number; end: number }[];
  /** Samples per channel; grows until `decoded` resolves. */
  readonly length: number;
  /** Resolves with the final `length` when everything is decoded; rejects with what `read` throws. */
  readonly decoded: Promise<number>;
  /**
   * Reads samples [start, end) of one channel (or the mean of all with 'mix') as float32, in [-1, 1) or slightly beyond; shorter at the end
   * of the recording. Pass `room` to reuse memory: samples are written to its start.
   */
  read(channel: number | 'mix', start: number, end: number, room?: Float32Array): Promise<Float32Array>;
  close(): Promise<void>;
}

/** Voice activity, on the frame grid of the segmentation model. */
export interface Speech {
  /** Seconds between frames; centre of the first frame. */
  frameStep: number;
  frameStart: number;
  /** Probability that anybody speaks, per frame. */
  probability: Float32Array;
  spans: Span[];
}

/** One input window of the ASR model, made of pieces of the recording. */
export interface Window {
  /** Pieces of the recording, ordered; their total length is at most the model's maximum (pauses between them may be cut out). */
  pieces: Span[];
  /** Speech inside, in seconds of the WINDOW (not of the recording). */
  speech: Span[];
  /** Highest speech probability inside. */
  peak: number;
  /** Speech probability per 0.1 s of the window. */
  certainty?: Float32Array;
  channel: number | 'mix';
}

/** The ASR models of an engine by language. */
export interface Routes {
  /** The resident one: Whisper, which detects the language and recognises all languages without a model of their own. */
  resident: string;
  /** Name of another model by language code. */
  byLanguage: ReadonlyMap<string, string>;
  /** Mean word probability of a window below which such a model is unsure, by its name; from its self-check. */
  least: ReadonlyMap<string, number>;
}

/** A stretch of a recording or window with the ASR model whose words it has. For the operator, not for clients. */
export interface HeardStretch extends Span {
  model: string;
  language: string | null;
  /** Seconds of speech in it. */
  seconds: number;
  channel?: number;
  /** Why the resident model recognised it instead of the one of its language. */
  fallback?: Fallback;
}

export interface Fallback {
  /** The model that was tried first. */
  model: string;
  why: 'failed' | 'unsure';
  /** Message of its failure. */
  message?: string;
}

export type Stage = 'waiting' | 'probing' | 'transcribing' | 'diarizing' | 'finishing';

export interface Options {
  /** ISO code as in the contract, or 'auto'. */
  language: string;
  diarize: boolean;
  /** Known number of speakers, or null. */
  speakers: number | null;
  /** Names and terms of the workspace and the recording, separated by commas; empty for none. */
  vocabulary: string;
  /** Use beam search where it helps; slower. */
  accurate: boolean;
}

/** Passed to every stage besides its data. */
export interface Run {
  signal: AbortSignal;
  /** Called after every finished unit of work. `fraction` of the whole, 0 to 1; never decreases. */
  progress(stage: Stage, fraction: number): void;
  /** Called with the decoded length in seconds as soon as it is known; measured in samples. */
  decoded?(seconds: number): void;
  /** Called with what each ASR model recognised, in order, once all is recognised; only if models are chosen by language. */
  heard?(stretches: HeardStretch[]): void;
  /** Finished work of an earlier owner of this transcription; absent on the command line. */
  checkpoints?: Checkpoints;
}

/** Stores finished chunks so that another engine can resume. Keys are chosen by the pipeline and stable for one file and set of options. */
export interface Checkpoints {
  load(): Promise<Map<string, Uint8Array>>;
  save(key: string, bytes: Uint8Array): Promise<void>;
}

export interface Transcript {
  /** Requested or detected code; null if nothing was said and nothing requested. */
  language: string | null;
  durationSeconds: number;
  mediaType: 'audio' | 'video';
  /** False if not requested, or if diarization failed (see `diarizationError`). */
  diarized: boolean;
  diarizationError: string | null;
  /** Number of distinct speakers among the segments; indices start at 0 in order of first appearance. */
  speakers: number;
  segments: Segment[];
  /** Seconds of detected speech without words after all retries: gaps are reported, never silent. */
  uncoveredSeconds: number;
}
/** A recording that cannot be transcribed. `code` is one of the contract's transcription error codes. Never retried. */
export class MediaError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'MediaError';
    this.code = code;
  }
}
