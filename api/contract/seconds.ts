/** Seconds as returned to clients: at most 3 decimals. */
export function milli<T extends number | null>(seconds: T): T {
  return (seconds === null ? null : Math.round(seconds * 1000) / 1000) as T;
}
