import { LRUCache } from 'lru-cache';

/** A model that takes memory while it is loaded. */
export interface Loadable {
  /** Peak memory, bytes. */
  bytes: number;
}

export interface LoadedOptions<M, R> {
  /** Memory for all of them. A model that needs more is loaded alone. */
  bytes: number;
  /** Time without use after which a model is released, ms. */
  idleMs: number;
  /** Time after which a model that failed to load is tried again, ms. */
  retryMs: number;
  open(model: M): Promise<R>;
  close(opened: R): Promise<void>;
}

interface Held<R> {
  opened: Promise<R>;
  users: number;
  /** Called when the last user has finished, once the model is to be released. */
  unused?: () => void;
}

/** Models of one thread that are loaded on demand. Released are those not used for a while, and the least recently used if memory is short. */
export class Loaded<M extends Loadable, R> {
  readonly #options: LoadedOptions<M, R>;
  readonly #held: LRUCache<string, Held<R>>;
  readonly #failed = new Map<string, { error: unknown; until: number }>();
  #closing: Promise<unknown> = Promise.resolve();

  constructor(options: LoadedOptions<M, R>) {
    this.#options = options;
    this.#held = new LRUCache({
      maxSize: Math.max(1, options.bytes),
      ttl: options.idleMs,
      ttlAutopurge: true,
      updateAgeOnGet: true,
      dispose: (held) => {
        this.#closing = Promise.all([this.#closing, this.#release(held)]);
      },
    });
  }

  /** Names of the loaded models, the one used last first. */
  get names(): string[] {
    return [...this.#held.keys()];
  }

  /** Does `work` with a model, which is loaded first if necessary and not released meanwhile. Throws why it cannot be loaded. */
  async use<T>(name: string, model: M, work: (opened: R) => Promise<T>): Promise<T> {
    const failed = this.#failed.get(name);
    if (failed && performance.now() < failed.until) throw failed.error;
    const held = this.#held.get(name) ?? this.#load(name, model);
    held.users++;
    try {
      return await work(await held.opened);
    } finally {
      if (--held.users === 0) held.unused?.();
    }
  }

  /** Releases all of them. */
  async close(): Promise<void> {
    this.#held.clear();
    await this.#closing;
  }

  #load(name: string, model: M): Held<R> {
    const roomMade = Promise.resolve().then(() => this.#closing); // of those that `set` has removed by then
    const held: Held<R> = { opened: roomMade.then(() => this.#options.open(model)), users: 0 };
    held.opened.catch((error) => {
      this.#failed.set(name, { error, until: performance.now() + this.#options.retryMs });
      if (this.#held.peek(name) === held) this.#held.delete(name);
    });
    this.#held.set(name, held, { size: this.#sizeOf(model) });
    return held;
  }

  #sizeOf({ bytes }: M): number {
    return Math.max(1, Math.min(bytes, this.#options.bytes));
  }

  async #release(held: Held<R>): Promise<void> {
    if (held.users > 0) await new Promise<void>((unused) => (held.unused = unused));
    const opened = await held.opened.catch(() => null);
    if (opened !== null) await this.#options.close(opened);
  }
}
