import type { Code } from '../cues/index.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { pt } from './pt.ts';
import { ru } from './ru.ts';
import type { Heading } from './translation.ts';

const TRANSLATIONS: Record<Code, Partial<Record<Heading, string>>> = { en, de, es, fr, ru, pt, it };

/** The text in this language, or in English if there is no translation, with `{name}` filled in. */
export function say(heading: Heading, code: Code, values: Record<string, string | number> = {}): string {
  const text = TRANSLATIONS[code][heading] ?? en[heading];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
