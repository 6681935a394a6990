import { ApiError, type ErrorCode } from '../contract/errors.ts';
import { LIMITS } from '../contract/limits.ts';
import { unstorable, walkJson } from '../http/json-tokens.ts';
import { looksSecret } from './secret.ts';

/** Metadata errors, in the order of the checks. */
const ORDER = [
  'metadata_key_too_long',
  'metadata_key_invalid',
  'metadata_too_deep',
  'metadata_value_invalid',
] as const satisfies readonly ErrorCode[];

type Fault = (typeof ORDER)[number];

/**
 * Validates X-Metadata and returns its text exactly as received. Every token is checked, because JSON.parse would round long numbers and
 * drop repeated keys, and jsonb rejects some of what it accepts. Throws one of the `metadata_*` codes.
 */
export function checkMetadata(text: string): string {
  if (Buffer.byteLength(text) > LIMITS.METADATA_BYTES) throw new ApiError('metadata_too_large');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ApiError('metadata_invalid_json');
  }
  if (text.includes('\uFFFD')) throw new ApiError('metadata_invalid_json', { message: 'X-Metadata is not valid UTF-8' });
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new ApiError('metadata_not_object');
  const faults = findFaults(text);
  for (const code of ORDER) if (faults.has(code)) throw new ApiError(code);
  return text;
}

function findFaults(text: string): Set<Fault> {
  const faults = new Set<Fault>();
  walkJson(text, {
    key: (name, known) => {
      for (const fault of keyFaults(name, known)) faults.add(fault);
    },
    string: (value) => void ((unstorable(value) || looksSecret(value)) && faults.add('metadata_value_invalid')),
    number: (token) => void (badNumber(token) && faults.add('metadata_value_invalid')),
    level: (level) => void (level > LIMITS.METADATA_DEPTH && faults.add('metadata_too_deep')),
  });
  return faults;
}

function keyFaults(key: string, known: ReadonlySet<string>): Fault[] {
  const faults: Fault[] = [];
  if ([...key].length > LIMITS.METADATA_KEY_CHARACTERS) faults.push('metadata_key_too_long');
  if (!key || known.has(key) || /[\u0000-\u001F\u007F-\u009F]/.test(key) || unstorable(key)) faults.push('metadata_key_invalid');
  return faults;
}

/** Outside the range of a double: too large, or so small that it would become 0. */
function badNumber(token: string): boolean {
  const value = Number(token);
  return !Number.isFinite(value) || (value === 0 && /[1-9]/.test(token.split(/[eE]/)[0]!));
}
