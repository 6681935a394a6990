import { ExtractiveWriter } from './extractive.ts';
import { GenerativeWriter } from './generative.ts';
import type { ModelSettings } from './model.ts';
import type { Writer } from './report.ts';

export * from './report.ts';

/** Without `baseUrl` the built-in writer answers. It is the root of an OpenAI-compatible API, such as `http://localhost:11434/v1`. */
export type WriterSettings = Partial<ModelSettings>;

/** The writer these settings ask for. A configured endpoint that fails is never replaced silently by the built-in writer. */
export function openWriter(settings: WriterSettings): Writer {
  return settings.baseUrl ? new GenerativeWriter({ ...settings, baseUrl: settings.baseUrl }) : new ExtractiveWriter();
}
