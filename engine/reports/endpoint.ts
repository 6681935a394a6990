import OpenAI, { APIError } from 'openai';
import { Stream } from 'openai/streaming';
import type { Features } from './features.ts';
import { patientFetch } from './fetch.ts';
import { type Patience, patiently } from './patience.ts';
import type { Prompt } from './prompt.ts';
import { add, type Chunk, type Collected } from './reply.ts';

/** A completion request. */
export interface CompletionRequest {
  model: string;
  prompt: Prompt;
  /** JSON schema of the answer, with a name. */
  shape: { name: string; schema: object };
  maxTokens: number;
  features: Features;
}

/** An error response of the server. `status` is undefined if the server could not be reached. */
export interface Fault {
  status: number | undefined;
  message: string;
  code: string;
  param: string;
  /** Milliseconds to wait before retrying; null if not stated. */
  retryAfter: number | null;
}

const ASIDE: Patience = { silentSeconds: 10, totalSeconds: 10 }; // for requests that need no inference

/** Client of an OpenAI-compatible server. Errors are passed through; `faultOf` interprets them. */
export class Endpoint {
  readonly #client: OpenAI;
  readonly #root: string;

  constructor({ baseUrl, apiKey }: { baseUrl: string; apiKey?: string }) {
    this.#root = baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
    this.#client = new OpenAI({
      ...{ baseURL: baseUrl, apiKey: apiKey || 'none', organization: null, project: null },
      ...{ maxRetries: 0, timeout: 2 ** 31 - 1, logLevel: 'off', fetch: patientFetch }, // `patiently` sets the timeouts
    });
  }

  /** The entries of `/models`. */
  async models(signal: AbortSignal): Promise<{ id: string }[]> {
    const listed = await patiently(ASIDE, signal, (limit) => this.#client.get<{ data?: unknown }>('/models', { signal: limit.signal }));
    return Array.isArray(listed?.data) ? listed.data : [];
  }

  /** The resource at this path beside `/v1`, where some servers report more about themselves. Null if there is none. */
  async aside(path: string, signal: AbortSignal): Promise<unknown> {
    try {
      return await patiently(ASIDE, signal, (limit) => this.#client.get(`${this.#root}${path}`, { signal: limit.signal }));
    } catch {
      signal.throwIfAborted();
      return null;
    }
  }

  /** Requests an answer, assembled from the stream; servers that do not stream answer in one piece. */
  answer({ model, prompt, shape, maxTokens, features }: CompletionRequest, patience: Patience, signal: AbortSignal): Promise<Collected> {
    const { format, limit: field, temperature, usage } = features;
    return patiently(patience, signal, async (limit, heard) => {
      const response = await this.#client.chat.completions
        .create(
          {
            model,
            stream: true,
            messages: [
              { role: 'system', content: prompt.system },
              { role: 'user', content: prompt.user },
            ],
            ...(field !== 'none' && { [field]: maxTokens }),
            ...(temperature && { temperature: 0.2 }),
            ...(usage && { stream_options: { include_usage: true } }),
            ...(format === 'json_object' && { response_format: { type: format } }),
            ...(format === 'json_schema' && {
              response_format: {
                type: format,
                json_schema: { name: shape.name, strict: true, schema: shape.schema as Record<string, unknown> },
              },
            }),
          },
          { signal: limit.signal },
        )
        .asResponse();
      heard();
      return this.#collect(response, limit, heard);
    });
  }

  async #collect(response: Response, limit: AbortController, heard: () => void): Promise<Collected> {
    const all: Collected = { content: '', refusal: '', finish: '', tokens: { input: 0, output: 0 } };
    if (!response.headers.get('content-type')?.includes('event-stream')) {
      add(all, (await response.json()) as Chunk);
      return all;
    }
    const unread = new AbortController(); // aborted when the rest is not needed, which does not abort the call
    for await (const chunk of Stream.fromSSEResponse<Chunk>(response, unread, this.#client)) {
      heard();
      add(all, chunk);
    }
    limit.signal.throwIfAborted();
    return all;
  }
}

/** Interprets an error of the server; null if the error came from elsewhere. */
export function faultOf(error: unknown): Fault | null {
  if (!(error instanceof APIError)) return null;
  const { status, message, code, param, headers } = error;
  const asked = Number(headers?.get('retry-after-ms') ?? Number(headers?.get('retry-after') ?? Number.NaN) * 1000);
  const cause = status === undefined && error.cause instanceof Error ? ` ${error.cause.message}` : '';
  return {
    ...{ status, message: `${message}${cause}`, code: `${code ?? ''}`, param: `${param ?? ''}` },
    retryAfter: Number.isFinite(asked) && asked >= 0 ? asked : null,
  };
}
