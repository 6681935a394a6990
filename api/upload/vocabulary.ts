import { invalid } from '../contract/errors.ts';
import { LIMITS } from '../contract/limits.ts';
import type { Request } from '../http/request.ts';
import { decodeExtended } from './filename.ts';

const CONTROL = /[\u0000-\u001f\u007f-\u009f]+/g;

/** Names and terms of this recording from X-Vocabulary: printable ASCII, or any text as RFC 8187 writes it (`UTF-8''Gro%C3%9Fmann`). Null without one. Throws 422. */
export function readVocabulary(request: Request): string | null {
  const value = request.headers.get('x-vocabulary');
  if (value === undefined) return null;
  const refuse = (message: string) => invalid([{ field: 'X-Vocabulary', message }]);
  if (request.repeated.has('x-vocabulary')) throw refuse('must be sent once');
  if (Buffer.byteLength(value) > LIMITS.VOCABULARY_BYTES) throw refuse(`must not be longer than ${LIMITS.VOCABULARY_BYTES} bytes`);
  if (!/^[\x20-\x7e]*$/.test(value)) throw refuse(`must be ASCII, or encoded as UTF-8''<percent-encoded> (RFC 8187)`);
  const extended = /^(utf-8|iso-8859-1)'[^']*'/i.test(value);
  const text = extended ? decodeExtended(value) : value;
  if (text === null) throw refuse('must be valid percent-encoded text behind its character set');
  return cleanVocabulary(text);
}

/** As it is given to the recogniser: one line. Null: nothing is left. */
export function cleanVocabulary(text: string): string | null {
  return text.normalize('NFC').replace(CONTROL, ' ').trim() || null;
}
