// Under tsx a thread cannot load TypeScript by itself: this registers the loader first. Deno needs none.
if (!('Deno' in globalThis)) (await import('tsx/esm/api')).register();
export const { make } = await import('./worker.ts');
