import { LRUCache } from 'lru-cache';

/** A cache of at most `most` entries, each for `ttl` ms. LRUCache's own `max` would allocate room for all of them when the API starts. */
export function recentlyUsed<V extends object | number>(most: number, ttl = 0): LRUCache<string, V> {
  return new LRUCache<string, V>({ maxSize: most, sizeCalculation: () => 1, ttl });
}
