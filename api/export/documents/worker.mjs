// tsx does not register its loader in worker threads, so do it here before importing TypeScript. Deno needs no loader.
if (!('Deno' in globalThis)) (await import('tsx/esm/api')).register();
export const { make } = await import('./worker.ts');
