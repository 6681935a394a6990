/** Input and output types of a report, used throughout this folder. */

import type { Figures } from './figures.ts';

export interface ReportSegment {
  id: number;
  /** Seconds of the recording. */
  start: number;
  end: number;
  /** The displayed label: a name, or `Speaker 1`. */
  speaker: string;
  text: string;
}

export interface ReportTranscript {
  /** ISO code, or null if none was detected. */
  language: string | null;
  durationSeconds: number;
  segments: ReportSegment[];
}

export interface ReportRequest {
  slug: string;
  name: string;
  /** The prompt of a custom template; null for a built-in one. */
  prompt: string | null;
}

export interface Tokens {
  input: number;
  output: number;
}

export interface ReportResult {
  /** Markdown without `#` headings, so that it can be embedded in another document. */
  text: string;
  /** Hallucinated quotations and times that were removed. */
  dropped: number;
  tokens?: Tokens;
}

export interface SpeakerName {
  /** Label in the transcript. */
  speaker: string;
  name: string;
  /** Words of the transcript that contain the name. */
  evidence: string;
  /** The segment that contains the evidence. */
  segmentId: number;
}

export interface AiLayer {
  /** Empty: nothing better than the file name is known. */
  title: string;
  summary: string;
  topics: string[];
  speakerNames: SpeakerName[];
}

export interface Writer {
  readonly kind: 'model' | 'extractive';
  /** The model's name, or `built-in`. */
  readonly name: string;
  readonly figures: Readonly<Figures>;
  /** Applies one template to one transcript. Throws a ReportError, or the signal's reason when cancelled. */
  write(request: ReportRequest, transcript: ReportTranscript, signal: AbortSignal): Promise<ReportResult>;
  /** Title, summary, topics and speaker names given in the conversation. Throws as `write` does. */
  describe(transcript: ReportTranscript, signal: AbortSignal): Promise<AiLayer>;
}

export type ReportErrorCode =
  | 'TRANSCRIPT_EMPTY'
  | 'TRANSCRIPT_TOO_LONG'
  | 'TEMPLATE_UNAVAILABLE'
  | 'LLM_UNAVAILABLE'
  | 'LLM_TIMEOUT'
  | 'LLM_REFUSED'
  | 'LLM_INVALID_OUTPUT'
  | 'INTERNAL_ERROR';

/** A report that could not be written. `code` is from the contract; `retryable`: a later attempt may succeed. */
export class ReportError extends Error {
  readonly code: ReportErrorCode;
  readonly retryable: boolean;
  constructor(code: ReportErrorCode, message: string, retryable = false) {
    super(message);
    this.name = 'ReportError';
    this.code = code;
    this.retryable = retryable;
  }
}
