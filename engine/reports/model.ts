import { setTimeout as wait } from 'node:timers/promises';
import PQueue from 'p-queue';
import { type About, discover } from './discover.ts';
import { type CompletionRequest, Endpoint } from './endpoint.ts';
import { meaningOf, TooLong } from './failures.ts';
import { ALL_FEATURES, type Features } from './features.ts';
import { type Figures, newFigures } from './figures.ts';
import type { Patience } from './patience.ts';
import type { Prompt } from './prompt.ts';
import { type Reply, replyOf } from './reply.ts';
import { ReportError } from './report.ts';
import type { Shape } from './shapes.ts';

export interface ModelSettings {
  baseUrl: string;
  model?: string;
  apiKey?: string;
  contextTokens?: number;
  patience?: Patience;
  concurrency?: number;
  /** Delay before the first retry; doubled each time. */
  backoffMilliseconds?: number;
}

const ATTEMPTS = 4;
const PATIENCE: Patience = { silentSeconds: 900, totalSeconds: 3600 }; // two cores read 8,000 tokens in minutes, and write as slowly
const PLACES = 2;
const BACKOFF = 500; // milliseconds
const LONGEST_PAUSE = 60_000; // milliseconds

/** A model behind an OpenAI-compatible endpoint. */
export class Model {
  /** Since the model was opened. */
  readonly figures: Figures = newFigures();
  readonly #endpoint: Endpoint;
  readonly #settings: ModelSettings;
  readonly #queue: PQueue;
  #features: Features = ALL_FEATURES;
  #found: About | null = null;

  constructor(settings: ModelSettings) {
    this.#settings = settings;
    this.#queue = new PQueue({ concurrency: Math.max(1, settings.concurrency ?? PLACES) });
    this.#endpoint = new Endpoint(settings);
  }

  get name(): string {
    return this.#found?.name ?? this.#settings.model ?? 'model';
  }

  /** Name and context length in tokens: as configured, else as the endpoint reports. */
  async about(signal: AbortSignal): Promise<About> {
    if (this.#found !== null) return this.#found;
    try {
      const { about, certain } = await discover(this.#endpoint, this.#settings, signal);
      if (certain) this.#found = about;
      return about;
    } catch (error) {
      signal.throwIfAborted();
      const meaning = meaningOf(error, this.#settings.baseUrl, this.name, null);
      throw 'error' in meaning ? meaning.error : error;
    }
  }

  /** Records that the context is shorter than assumed. */
  shorten(context: number): void {
    this.#found = { name: this.name, context };
  }

  /**
   * Requests an answer. Retries temporary failures with exponential backoff and jitter. Throws a ReportError, TooLong, or the signal's
   * reason.
   */
  async ask<T>(prompt: Prompt, shape: Shape<T>, maxTokens: number, signal: AbortSignal): Promise<Reply> {
    const { name } = await this.about(signal);
    const work = async () => {
      for (let attempt = 1; ; ) {
        const features = this.#features;
        try {
          return await this.#once({ model: name, prompt, shape, maxTokens, features }, signal);
        } catch (error) {
          if (signal.aborted) this.#count('cancelled');
          signal.throwIfAborted();
          const meaning = meaningOf(error, this.#settings.baseUrl, name, features);
          if ('features' in meaning) {
            this.#features = meaning.features;
            this.#count('adapted');
            continue;
          }
          this.#count(outcomeOf(meaning.error));
          if (!worthRepeating(meaning.error) || attempt++ === ATTEMPTS) throw meaning.error;
          await wait(this.#pause(meaning.retryAfter, attempt), undefined, { signal });
        }
      }
    };
    return this.#queue.add(work, { signal });
  }

  async #once(request: CompletionRequest, signal: AbortSignal): Promise<Reply> {
    const began = performance.now();
    try {
      const reply = replyOf(await this.#endpoint.answer(request, this.#settings.patience ?? PATIENCE, signal));
      this.figures.promptTokens += reply.tokens.input;
      this.figures.completionTokens += reply.tokens.output;
      this.#count('ok');
      return reply;
    } finally {
      this.figures.seconds += (performance.now() - began) / 1000;
    }
  }

  /** Recounts the last answer, counted as good, as unusable. */
  disappoint(): void {
    this.#count('ok', -1);
    this.#count('invalid');
  }

  #count(outcome: string, by = 1): void {
    this.figures.calls[outcome] = (this.figures.calls[outcome] ?? 0) + by;
  }

  #pause(asked: number | null, attempt: number): number {
    const own = (this.#settings.backoffMilliseconds ?? BACKOFF) * 2 ** (attempt - 2) * (0.75 + Math.random() / 2);
    return Math.min(LONGEST_PAUSE, asked === null ? own : Math.max(asked, 1));
  }
}

/** After a timeout an immediate retry would time out as well; the report is retried later. */
function worthRepeating(error: Error): boolean {
  return error instanceof ReportError && error.retryable && error.code !== 'LLM_TIMEOUT';
}

/** `timeout`, `unavailable`, `refused`, `too_long` … */
function outcomeOf(error: Error): string {
  if (error instanceof TooLong) return 'too_long';
  return error instanceof ReportError ? error.code.replace(/^LLM_/, '').toLowerCase() : 'error';
}
