import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readCard } from '../published/card.ts';

/** Facts about a model, from whoever imports it. */
export interface Said {
  /** SPDX expression. */
  licence?: string;
  /** Origin. */
  source?: string;
}

/** The licence of a model and the attribution that it requires; null: none. */
export interface Credit {
  licence: string;
  attribution: string | null;
}

/**
 * The licence of the model in a folder, as said or from its card, and its attribution. Throws if the licence requires one and the origin is
 * unknown.
 */
export function creditOf(folder: string, name: string, { licence: said, source }: Said): Credit {
  const licence = said ?? readCard(folder).licence ?? 'unknown';
  if (!/^CC-BY/i.test(licence)) return { licence, attribution: null };
  if (!source)
    throw new Error(
      `Cannot import the model in ${folder}: its licence ${licence} requires attribution; say who made it and where it is published, with --source`,
    );
  return { licence, attribution: `${name}, from ${source}, licensed under ${licence}` };
}

/** Whether a file is the text of a licence, by its name. */
export function isLicence(name: string): boolean {
  return /^licen[cs]e/i.test(name);
}

/** Names of the texts of licences in a folder, in order. Links to files count, as in the cache of Hugging Face; folders do not. */
export async function licencesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir(folder)) {
    if (isLicence(name) && (await stat(join(folder, name)).catch(() => null))?.isFile()) found.push(name);
  }
  return found.sort();
}
