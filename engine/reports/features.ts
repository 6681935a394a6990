/** Optional features of the protocol. Servers differ; each rejection permanently removes one. */
export interface Features {
  format: 'json_schema' | 'json_object' | 'text';
  limit: 'max_tokens' | 'max_completion_tokens' | 'none';
  temperature: boolean;
  usage: boolean;
}

export const ALL_FEATURES: Features = { format: 'json_schema', limit: 'max_tokens', temperature: true, usage: true };

/** The features left after a server rejected a request with this message; null if none can be removed. */
export function without(features: Features, message: string): Features | null {
  if (/max_tokens|max_completion_tokens/i.test(message) && features.limit !== 'none') {
    return {
      ...features,
      limit: features.limit === 'max_tokens' && /max_completion_tokens/i.test(message) ? 'max_completion_tokens' : 'none',
    };
  }
  if (/temperature/i.test(message) && features.temperature) return { ...features, temperature: false };
  if (/stream_options|include_usage/i.test(message) && features.usage) return { ...features, usage: false };
  if (features.format === 'json_schema') return { ...features, format: 'json_object' };
  if (features.format === 'json_object') return { ...features, format: 'text' };
  if (features.usage) return { ...features, usage: false };
  return null;
}

/** The context length reported by a rejection of a long prompt, or 0 if not stated; null if the rejection has another cause. */
export function contextExceeded(message: string): number | null {
  if (
    !/context (length|size|window)|maximum context|exceed_context|context_length_exceeded|too many tokens|prompt is too long|n_ctx|input is too long|reduce the length/i.test(
      message,
    )
  )
    return null;
  const named =
    /(?:maximum context length is|context (?:length|size|window)(?: of| is|:)?|n_ctx["']?\s*[:=]|maximum of)\D{0,12}(\d{3,7})/i.exec(
      message,
    );
  return named === null ? 0 : Number(named[1]);
}

/** Context in use before maximum context. */
const FIELDS = [
  'max_model_len',
  'loaded_context_length',
  'n_ctx',
  'context_size',
  'context_length',
  'context_window',
  'max_input_tokens',
  'max_context_length',
];
const OLLAMA = 4096; // Ollama's default if the request does not set it; longer prompts are silently truncated

/** The context length in tokens from an entry of `/models`, under the names used by vLLM, llama.cpp, LM Studio, OpenRouter and others. */
export function contextIn(entry: unknown): number | null {
  if (typeof entry !== 'object' || entry === null) return null;
  const fields = entry as Record<string, unknown>;
  for (const field of FIELDS) if (typeof fields[field] === 'number' && fields[field] > 0) return fields[field];
  for (const inner of ['meta', 'limits', 'top_provider', 'default_generation_settings']) {
    const found = contextIn(fields[inner]);
    if (found !== null) return found;
  }
  if (fields.owned_by === 'library') return OLLAMA;
  return typeof fields.owned_by === 'string' && /^(openai|system)/.test(fields.owned_by) ? 128_000 : null;
}
