import { ApiError } from '../contract/errors.ts';
import { isLanguage } from '../contract/languages.ts';

export const FORMATS = ['json', 'text', 'srt', 'vtt', 'verbose_json', 'diarized_json'] as const;
export type Format = (typeof FORMATS)[number];

/** Options requested by the form's fields. */
export interface Asked {
  format: Format;
  /** A code, or `auto`. */
  language: string;
  /** Vocabulary for the ASR model; empty for none. */
  prompt: string;
  words: boolean;
  segments: boolean;
}

/** Parses the fields of the form; unknown ones are ignored. Throws 400 that names the field. */
export function readOptions(fields: ReadonlyMap<string, readonly string[]>): Asked {
  const one = (name: string) => fields.get(name)?.at(-1) ?? '';
  if (!one('model')) throw refused('model', 'is missing: send any name; the configured model is used');
  if (/^(true|1)$/i.test(one('stream'))) throw new ApiError('stream_unsupported', { detail: { param: 'stream' } });
  const format = one('response_format') || 'json';
  if (!isFormat(format)) throw refused('response_format', `must be one of ${FORMATS.join(', ')}`);
  const granularities = ['timestamp_granularities[]', 'timestamp_granularities'].flatMap((name) => fields.get(name) ?? []);
  for (const each of granularities)
    if (each !== 'word' && each !== 'segment') throw refused('timestamp_granularities[]', 'must be word or segment');
  if (granularities.length && format !== 'verbose_json')
    throw refused('timestamp_granularities[]', 'requires response_format verbose_json');
  return {
    format,
    language: languageOf(one('language')),
    prompt: one('prompt'),
    words: granularities.includes('word'),
    segments: !granularities.length || granularities.includes('segment'),
  };
}

function isFormat(text: string): text is Format {
  return (FORMATS as readonly string[]).includes(text);
}

/** Accepts `en`, and `en-US` as sent by some clients. */
function languageOf(text: string): string {
  if (!text) return 'auto';
  const code = text.toLowerCase().split(/[-_]/)[0]!;
  if (code !== 'auto' && !isLanguage(code)) throw refused('language', 'must be a supported ISO 639-1 code');
  return code;
}

/** A 400 error for a field of the form. */
export function refused(param: string, message: string): ApiError {
  return new ApiError('invalid_form', { message: `${param} ${message}`, detail: { param } });
}
