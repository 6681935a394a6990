import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../docs/guides/', import.meta.url);

/** The texts of `docs/guides`, ordered by name. */
export function guides(): { name: string; text: string }[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.md'));
  return names.sort().map((name) => ({ name: name.replace(/^\d+-|\.md$/g, ''), text: readFileSync(new URL(name, FOLDER), 'utf8') }));
}
