import { type Endpoint, faultOf } from './endpoint.ts';
import { contextIn } from './features.ts';
import { ReportError } from './report.ts';

/** Known properties of a model. */
export interface About {
  name: string;
  /** Tokens of prompt and answer together. */
  context: number;
}

const CONTEXT = 8192; // tokens, if unknown
const NO_WRITER = /embed|rerank|whisper|tts/i; // models in a list that do not generate text

/** Endpoints beside `/v1` that report the context in use: llama.cpp's server, LM Studio. */
const ASIDES = ['/props', '/api/v0/models'];

/**
 * The model's name and context length: as configured, else as the endpoint reports. `certain` is false if the endpoint could not be
 * queried.
 */
export async function discover(
  endpoint: Endpoint,
  { baseUrl, model, contextTokens }: { baseUrl: string; model?: string; contextTokens?: number },
  signal: AbortSignal,
): Promise<{ about: About; certain: boolean }> {
  if (model !== undefined && contextTokens !== undefined) return { about: { name: model, context: contextTokens }, certain: true };
  let certain = true;
  const entries = await endpoint.models(signal).catch((error) => {
    signal.throwIfAborted();
    if (model === undefined) throw error;
    certain = faultOf(error)?.status === 404; // a server without a model list did answer
    return [];
  });
  const entry = entryOf(entries, model);
  const name = model ?? entry?.id;
  if (name === undefined) throw new ReportError('LLM_UNAVAILABLE', `Cannot choose a model: ${baseUrl}/models lists none; set LLM_MODEL`);
  if (contextTokens !== undefined) return { about: { name, context: contextTokens }, certain };
  let context = contextIn(entry);
  for (const path of certain && context === null ? ASIDES : []) context ??= told(await endpoint.aside(path, signal), name);
  return { about: { name, context: context ?? CONTEXT }, certain };
}

function entryOf(entries: readonly { id: string }[], model: string | undefined): { id: string } | undefined {
  if (model === undefined) return entries.find(({ id }) => !NO_WRITER.test(id));
  return entries.find(({ id }) => id === model || id === `${model}:latest`);
}

/** The context length in a response: of the server, or of the model in its list. */
function told(page: unknown, name: string): number | null {
  const { data } = (page ?? {}) as { data?: unknown };
  return contextIn(Array.isArray(data) ? entryOf(data, name) : page);
}
