/** Resolves on SIGTERM, SIGINT or SIGHUP (terminal closed). */
export function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => resolve(signal));
  });
}
