// Under tsx a thread cannot load TypeScript by itself: this registers the loader first.
import { register } from 'tsx/esm/api';

register();
const worker = await import('./worker.ts');
export const { describe, rest, recognise, listen, segment, embed } = worker;
