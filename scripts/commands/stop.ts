/** Aborts at the first SIGINT or SIGTERM, so that the program can remove what it left unfinished; the second ends it at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(new Error('Stopped.')));
  return stop.signal;
}
