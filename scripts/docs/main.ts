/** Writes the generated pages of docs/; test/docs.test.ts fails if they are out of date. */
import { writeFileSync } from 'node:fs';
import { generatedPages } from './pages.ts';

const DOCS = new URL('../../docs/', import.meta.url);

for (const { file, text } of generatedPages()) {
  writeFileSync(new URL(file, DOCS), text);
  process.stdout.write(`docs/${file}\n`);
}
