import { setTimeout as wait } from 'node:timers/promises';
import OpenAI, { APIError } from 'openai';
import { Stream } from 'openai/streaming';
import { ALL_FEATURES, contextExceeded, contextIn, type Features, without } from './features.ts';
import { Gate } from './gate.ts';
import type { Prompt } from './prompt.ts';
import { add, type Chunk, type Collected, refused, type Reply, replyOf, timedOut, unavailable } from './reply.ts';
import { ReportError } from './report.ts';
import type { Shape } from './shapes.ts';

export interface ModelSettings {
  baseUrl: string;
  model?: string;
  apiKey?: string;
  contextTokens?: number;
  timeoutSeconds?: number;
  concurrency?: number;
  /** First pause before a repeated request; doubled each time. */
  backoffMilliseconds?: number;
  /** Called after every answer, for metrics. */
  onUsage?: (usage: { model: string; input: number; output: number; seconds: number }) => void;
}

/** A prompt that does not fit. `limit` is the context length that the server named, or 0. */
export class TooLong extends Error {
  readonly limit: number;
  constructor(limit: number) {
    super('the prompt is longer than the context of the model');
    this.limit = limit;
  }
}

interface Request<T> {
  name: string;
  prompt: Prompt;
  shape: Shape<T>;
  maxTokens: number;
  features: Features;
}

const ATTEMPTS = 4;
const CONTEXT = 8192; // tokens, where nothing tells
const LONGEST_PAUSE = 60_000; // milliseconds
const NO_WRITER = /embed|rerank|whisper|tts/i; // models of a list that write no text
const REFUSED = /content_filter|content_policy|responsible_?ai|safety/i;

/** One model behind an OpenAI-compatible endpoint. */
export class Model {
  readonly #client: OpenAI;
  readonly #settings: ModelSettings;
  readonly #gate: Gate;
  #features: Features = ALL_FEATURES;
  #found: { name: string; context: number } | null = null;

  constructor(settings: ModelSettings) {
    this.#settings = settings;
    this.#gate = new Gate(settings.concurrency ?? 2);
    this.#client = new OpenAI({
      baseURL: settings.baseUrl,
      apiKey: settings.apiKey || 'none',
      maxRetries: 0,
      logLevel: 'off',
      organization: null,
      project: null,
    });
  }

  get name(): string {
    return this.#found?.name ?? this.#settings.model ?? 'model';
  }

  /** Name and context length in tokens: as set, else as the endpoint tells. */
  async about(signal: AbortSignal): Promise<{ name: string; context: number }> {
    if (this.#found !== null) return this.#found;
    const { about, certain } = await this.#discover(signal);
    if (certain) this.#found = about;
    return about;
  }

  /** Remembers that the context is shorter than it was thought to be. */
  shorten(context: number): void {
    this.#found = { name: this.name, context };
  }

  /** One answer. Repeats what may pass, with pauses that double and vary. Throws a ReportError, TooLong, or the signal's reason. */
  async ask<T>(prompt: Prompt, shape: Shape<T>, maxTokens: number, signal: AbortSignal): Promise<Reply> {
    const { name } = await this.about(signal);
    return this.#gate.run(async () => {
      for (let attempt = 1; ; ) {
        const began = performance.now();
        const features = this.#features;
        try {
          const reply = await this.#once({ name, prompt, shape, maxTokens, features }, signal);
          this.#settings.onUsage?.({ model: name, ...reply.tokens, seconds: (performance.now() - began) / 1000 });
          return reply;
        } catch (error) {
          signal.throwIfAborted();
          const failure = this.#understand(error, features);
          if (failure === 'fewer features') continue;
          if (!(failure instanceof ReportError) || !failure.retryable || failure.code === 'LLM_TIMEOUT' || attempt++ === ATTEMPTS)
            throw failure;
          await wait(this.#pause(error, attempt), undefined, { signal });
        }
      }
    }, signal);
  }

  async #once<T>({ name, prompt, shape, maxTokens, features }: Request<T>, signal: AbortSignal): Promise<Reply> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(timedOut(this.#seconds)), this.#seconds * 1000);
    const leave = () => limit.abort(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    try {
      const { format, limit: field, temperature, usage } = features;
      const response = await this.#client.chat.completions
        .create(
          {
            model: name,
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
          { signal: limit.signal, timeout: this.#seconds * 1000 + 1000 },
        )
        .asResponse();
      return replyOf(await this.#collect(response, limit));
    } catch (error) {
      throw limit.signal.aborted ? limit.signal.reason : error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    }
  }

  /** Joins what the server streams; a server that does not stream answers in one piece. */
  async #collect(response: Response, limit: AbortController): Promise<Collected> {
    const all: Collected = { content: '', refusal: '', finish: '', tokens: { input: 0, output: 0 } };
    if (!response.headers.get('content-type')?.includes('event-stream')) {
      add(all, (await response.json()) as Chunk);
      return all;
    }
    for await (const chunk of Stream.fromSSEResponse<Chunk>(response, limit, this.#client)) add(all, chunk);
    limit.signal.throwIfAborted();
    return all;
  }

  /** `certain` is false while the endpoint could not be asked. */
  async #discover(signal: AbortSignal): Promise<{ about: { name: string; context: number }; certain: boolean }> {
    const { model, contextTokens } = this.#settings;
    if (model !== undefined && contextTokens !== undefined) return { about: { name: model, context: contextTokens }, certain: true };
    let certain = true;
    const listed = await this.#client.get<{ data?: { id: string }[] }>('/models', { signal, timeout: 10_000 } as object).catch((error) => {
      signal.throwIfAborted();
      if (model === undefined) throw this.#understand(error);
      certain = error instanceof APIError && error.status === 404;
      return {};
    });
    const entries = Array.isArray((listed as { data?: unknown })?.data) ? (listed as { data: { id: string }[] }).data : [];
    const entry =
      model === undefined
        ? entries.find(({ id }) => !NO_WRITER.test(id))
        : entries.find(({ id }) => id === model || id === `${model}:latest`);
    const name = model ?? entry?.id;
    if (name === undefined)
      throw new ReportError('LLM_UNAVAILABLE', `Cannot choose a model: ${this.#settings.baseUrl}/models lists none; set LLM_MODEL`);
    return { about: { name, context: contextTokens ?? contextIn(entry) ?? CONTEXT }, certain };
  }

  /** What a failed request means; 'fewer features' when it may be repeated at once with less in it. */
  #understand(error: unknown, used: Features = ALL_FEATURES): Error | 'fewer features' {
    if (error instanceof ReportError || error instanceof TooLong) return error;
    const where = this.#settings.baseUrl;
    if (stalled(error)) return timedOut(this.#seconds);
    if (error instanceof SyntaxError) return unavailable(`${where} sent malformed data; check that it speaks the OpenAI protocol`, true);
    if (!(error instanceof APIError)) return unavailable(`the connection to ${where} broke (${(error as Error).message})`, true);
    const { status, message } = error;
    const detail = `${message} ${error.code ?? ''} ${error.param ?? ''}`;
    if (REFUSED.test(`${error.code ?? ''}`) || (status === 400 && /content (filter|policy|management)/i.test(message)))
      return refused(message);
    if (status === undefined)
      return unavailable(`${where} cannot be reached (${message}); check LLM_BASE_URL and that the server runs`, true);
    if (status === 401 || status === 403) return unavailable(`${where} refused the key (${status}); check LLM_API_KEY`, false);
    if (status === 404) return unavailable(`${where} knows no model '${this.name}' (${message}); check LLM_BASE_URL and LLM_MODEL`, false);
    if (status === 400 || status === 413 || status === 422 || status === 501 || status === 500) {
      const context = status === 413 ? 0 : contextExceeded(detail);
      if (context !== null) return new TooLong(context);
      const fewer = status === 500 && !/response_format|schema|grammar/i.test(message) ? null : without(used, detail);
      if (fewer !== null) {
        this.#features = fewer;
        return 'fewer features';
      }
    }
    const passing =
      status === 408 ||
      status === 409 ||
      status === 425 ||
      (status === 429 && error.code !== 'insufficient_quota') ||
      (status >= 500 && status !== 501);
    return unavailable(`${where} answered ${status} (${message})`, passing);
  }

  #pause(error: unknown, attempt: number): number {
    const headers = error instanceof APIError ? error.headers : undefined;
    const asked = Number(headers?.get('retry-after-ms') ?? Number(headers?.get('retry-after') ?? Number.NaN) * 1000);
    const own = (this.#settings.backoffMilliseconds ?? 500) * 2 ** (attempt - 2) * (0.75 + Math.random() / 2);
    return Math.min(LONGEST_PAUSE, Number.isFinite(asked) && asked >= 0 ? Math.max(asked, 1) : own);
  }

  get #seconds(): number {
    return this.#settings.timeoutSeconds ?? 600;
  }
}

/** Whether fetch gave up waiting, which it does after five minutes without a byte. */
function stalled(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/.test(String((cause as { code?: unknown }).code))) return true;
  }
  return false;
}
