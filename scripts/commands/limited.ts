/** Runs `work` on all items with limited concurrency; returns a promise per item, in order. */
export function limited<T, R>(count: number, items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R>[] {
  const waiting: (() => void)[] = [];
  let free = count;
  return items.map(async (item, index) => {
    if (free) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work(item, index);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  });
}
