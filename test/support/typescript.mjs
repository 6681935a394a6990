/**
 * Lets Node run the project's TypeScript in tests: types are replaced by blanks, which preserves lines and columns, and the result is cached.
 * `tsx`, which runs the product, takes 1 s per process; tests of the command line still run the product with it.
 */
import './navigator.mjs';
import { register } from 'node:module';

if (!('Deno' in globalThis)) register('./typescript-hooks.mjs', import.meta.url);
