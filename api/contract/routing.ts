import { closest } from 'fastest-levenshtein';
import { isLanguage, LANGUAGES } from './languages.ts';

/** Which ASR model recognises which language. */
export interface Routing {
  /** Model by language code. */
  byLanguage: ReadonlyMap<string, string>;
  /** Model for all other languages, which also detects the language; null: not given. */
  others: string | null;
}

const FORM = 'expected CODES=MODEL,CODES=MODEL,*=MODEL with comma-separated CODES, such as ru,kk=gigaam-v3,en=parakeet-v3,*=whisper-small';
const MODEL = /^[a-z0-9][a-z0-9._-]{0,63}$/i;
const OTHERS = '*';

/** Parses LONGHAND_MODELS. Throws an Error that says what was found and what was expected. */
export function parseRouting(text: string): Routing {
  const byLanguage = new Map<string, string>();
  let others: string | null = null;
  let codes: string[] = [];
  for (const part of text.split(',').map((part) => part.trim())) {
    const [code = '', model, ...more] = part.split('=').map((side) => side.trim());
    codes.push(checked(code, part));
    if (model === undefined) continue;
    if (more.length || !MODEL.test(model)) throw new Error(`"${part}" does not name a model; ${FORM}`);
    for (const one of codes) {
      const before = one === OTHERS ? others : byLanguage.get(one);
      if (before != null) throw new Error(`${one} is given twice, for ${before} and for ${model}; expected one model for each language`);
      if (one === OTHERS) others = model;
      else byLanguage.set(one, model);
    }
    codes = [];
  }
  if (codes.length) throw new Error(`nothing says which model recognises ${codes.join(', ')}; ${FORM}`);
  return { byLanguage, others };
}

/** The model by language code in the settings, without that for all other languages. */
export function byLanguage({ LONGHAND_MODELS }: { LONGHAND_MODELS?: string }): ReadonlyMap<string, string> {
  return LONGHAND_MODELS ? parseRouting(LONGHAND_MODELS).byLanguage : new Map();
}

function checked(code: string, part: string): string {
  if (code === OTHERS || isLanguage(code)) return code;
  if (!code) throw new Error(part ? `"${part}" names no language; ${FORM}` : `a language is missing beside a comma; ${FORM}`);
  const lower = code.toLowerCase();
  const meant = isLanguage(lower) ? lower : closest(lower, LANGUAGES as string[]);
  throw new Error(`"${code}" is not a language code, perhaps ${meant} is meant; ${FORM}`);
}
