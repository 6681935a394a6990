/** The shapes that pass between the stages of the engine. A leaf: imports nothing. Times are seconds of the recording unless said otherwise. */

/** A stretch of time; `end` is exclusive. */
export interface Span {
  start: number;
  end: number;
}

/** One spoken word. `text` begins with a space where the language writes one, as Whisper's own tokens do: joining texts gives the sentence. */
export interface Word extends Span {
  text: string;
  /** Mean probability of its tokens, 0 to 1. */
  probability: number;
  /** Index of the channel it was heard in; only for stereo calls. */
  channel?: number;
}

/** A stretch in which one voice is active. Turns of different speakers may overlap. `speaker` counts from 0 in order of first appearance. */
export interface Turn extends Span {
  speaker: number;
}

/** What a reader sees as one entry: words of one speaker without a long pause. `speaker` is null when not diarized. */
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
  /** Players take it unless they are told otherwise. */
  default: boolean;
  /** As the container declares it; null where it does not. */
  language: string | null;
}

/** A decoded recording: 16 kHz samples on disk or in memory, read by range, never whole. */
export interface Recording {
  readonly channels: number;
  /** Where each channel comes from; absent: all from one track. */
  readonly origins?: readonly Origin[];
  /** Samples per channel; grows until `decoded` resolves. */
  readonly length: number;
  /** Resolves with the final `length` when all is decoded; rejects with what `read` throws. */
  readonly decoded: Promise<number>;
  /**
   * Samples [start, end) of one channel (or the mean of all with 'mix') as float32, in [-1, 1) or little beyond; shorter at the end of the recording.
   * They are written to the start of `room` where that is given: whoever reads much uses its memory again.
   */
  read(channel: number | 'mix', start: number, end: number, room?: Float32Array): Promise<Float32Array>;
  close(): Promise<void>;
}

/** Where somebody speaks, on the frame grid of the segmentation network. */
export interface Speech {
  /** Seconds between frames and the centre of the first one. */
  frameStep: number;
  frameStart: number;
  /** Probability that anybody speaks, one value a frame. */
  probability: Float32Array;
  spans: Span[];
}

/** One window given to the recogniser, made of pieces of the recording. */
export interface Window {
  /** Pieces of the recording, in order; their lengths add up to at most what the model takes (pauses between them may be cut out). */
  pieces: Span[];
  /** Speech inside, in seconds of the WINDOW (not of the recording). */
  speech: Span[];
  /** Highest speech probability inside. */
  peak: number;
  /** Speech probability of every tenth of a second of the window. */
  certainty?: Float32Array;
  channel: number | 'mix';
}

export type Stage = 'waiting' | 'probing' | 'transcribing' | 'diarizing' | 'finishing';

export interface Options {
  /** ISO code as in the contract, or 'auto'. */
  language: string;
  diarize: boolean;
  /** Known number of speakers, or null. */
  speakers: number | null;
  /** Names and terms of the workspace, given to the decoder as a prompt; '' for none. */
  vocabulary: string;
  /** Beams where they help, slower. */
  accurate: boolean;
}

/** What goes through every stage beside its data. */
export interface Run {
  signal: AbortSignal;
  /** `fraction` of the whole, 0 to 1; never falls. */
  progress(stage: Stage, fraction: number): void;
  /** Told the decoded length in seconds as soon as it is known; counted on samples. */
  decoded?(seconds: number): void;
  /** Finished work of an earlier owner of this transcription; absent on the command line. */
  checkpoints?: Checkpoints;
}

/** Keeps finished chunks so that another engine can go on. Keys are chosen by the pipeline and are stable for one file and one set of options. */
export interface Checkpoints {
  load(): Promise<Map<string, Uint8Array>>;
  save(key: string, bytes: Uint8Array): Promise<void>;
}

export interface Transcript {
  /** Requested or detected code; null when nothing was said and nothing requested. */
  language: string | null;
  durationSeconds: number;
  mediaType: 'audio' | 'video';
  /** False when not asked for, and when diarization failed (`diarizationError` says why). */
  diarized: boolean;
  diarizationError: string | null;
  /** Number of distinct speakers among the segments; their indices run from 0 in order of first appearance. */
  speakers: number;
  segments: Segment[];
  /** Seconds of detected speech that no word covers after all tries: what is missing is counted, never silent. */
  uncoveredSeconds: number;
}
/** A recording that cannot become a transcript. `code` is one of the contract's transcription error codes. Never retried. */
export class MediaError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'MediaError';
    this.code = code;
  }
}
