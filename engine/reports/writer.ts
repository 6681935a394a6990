import { ExtractiveWriter } from './extractive.ts';
import { GenerativeWriter } from './generative.ts';
import type { ModelSettings } from './model.ts';
import type { Writer } from './report.ts';

export * from './report.ts';

/** Without `baseUrl` the extractive writer is used. It is the root of an OpenAI-compatible API, such as `http://localhost:11434/v1`. */
export type WriterSettings = Partial<ModelSettings>;

/** Opens the writer for these settings. A configured endpoint that fails is never silently replaced by the extractive writer. */
export function openWriter(settings: WriterSettings): Writer {
  return settings.baseUrl ? new GenerativeWriter({ ...settings, baseUrl: settings.baseUrl }) : new ExtractiveWriter();
}
