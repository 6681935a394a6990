/**
 * Lets Node run the project's TypeScript in tests: types are blanked out, so that lines and columns stay, and the result is kept.
 * `tsx`, under which the product runs, takes a second of every process; tests of the command line start the product under it all the same.
 */
import { register } from 'node:module';

if (!('Deno' in globalThis)) register('./typescript-hooks.mjs', import.meta.url);
