import type { Language } from './cue.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { pt } from './pt.ts';
import { ru } from './ru.ts';

/** Languages of the extractive writer; to add one, add a file and a line here. */
export const LANGUAGES = { en, de, es, fr, ru, pt, it } satisfies Record<string, Language>;

export type Code = keyof typeof LANGUAGES;

export function isKnown(code: string | null): code is Code {
  return code !== null && Object.hasOwn(LANGUAGES, code);
}
