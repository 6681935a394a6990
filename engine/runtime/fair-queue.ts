interface Waiting {
  job: number;
  go(): void;
}

/** Lets files in by turns: at most `places` units at once, and one of every file whatever the others hold. */
export class Turns {
  readonly #places: number;
  readonly #inside = new Map<number, number>();
  #waiting: Waiting[] = [];
  #taken = 0;

  constructor(places: number) {
    this.#places = places;
  }

  /** Waits for a place; the function returned gives it back. Rejects when the signal aborts before. */
  enter(job: number, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const waiting: Waiting = {
        job,
        go: () => {
          signal.removeEventListener('abort', abandon);
          resolve(() => this.#leave(job));
        },
      };
      const abandon = () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abandon, { once: true });
      this.#waiting.push(waiting);
      this.#admit();
    });
  }

  #leave(job: number): void {
    this.#taken--;
    const left = this.#inside.get(job)! - 1;
    if (left === 0) this.#inside.delete(job);
    else this.#inside.set(job, left);
    this.#admit();
  }

  /** Lets in whoever has the fewest units inside, while there is a place; a file without any enters always. */
  #admit(): void {
    for (;;) {
      let next: Waiting | undefined;
      let fewest = Number.POSITIVE_INFINITY;
      for (const waiting of this.#waiting) {
        const inside = this.#inside.get(waiting.job) ?? 0;
        if (inside < fewest) [next, fewest] = [waiting, inside];
      }
      if (!next || (this.#taken >= this.#places && fewest > 0)) return;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#inside.set(next.job, fewest + 1);
      this.#taken++;
      next.go();
    }
  }
}
