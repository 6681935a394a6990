// tsx does not register its loader in worker threads, so do it here before importing TypeScript. Deno needs no loader, and tsx would break
// its require().
if (!('Deno' in globalThis)) (await import('tsx/esm/api')).register();
const worker = await import('./worker.ts');
export const { open, rest, recognise, segment, embed, link } = worker;
