// Under tsx a thread cannot load TypeScript by itself: this registers the loader first. Deno needs none, and tsx would break its require().
if (!('Deno' in globalThis)) (await import('tsx/esm/api')).register();
const worker = await import('./worker.ts');
export const { open, rest, recognise, segment, embed, link } = worker;
