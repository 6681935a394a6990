import { ApiError } from '../contract/errors.ts';
import { EXTENSIONS } from '../contract/formats.ts';
import { LIMITS } from '../contract/limits.ts';

/** A file name as stored and displayed, and its extension in lower case without the dot. */
export interface FileName {
  name: string;
  extension: string;
}

/** Reads the file name from Content-Disposition. Throws `filename_required` or `unsupported_file_format`. */
export function readFileName(disposition: string): FileName {
  const given = givenName(disposition);
  const name = given === null ? '' : cleanName(given);
  if (!name) throw new ApiError('filename_required');
  const extension = extensionOf(name);
  if (!extension || !EXTENSIONS.has(extension)) throw new ApiError('unsupported_file_format');
  return { name, extension };
}

/** The part after the last dot, in lower case; empty if there is none. */
export function extensionOf(name: string): string {
  return /\.([^.]*)$/.exec(name)?.[1]?.toLowerCase() ?? '';
}

/**
 * The name in a Content-Disposition header: `filename*` takes precedence over `filename`, in any order and with any disposition type. Null
 * if there is none, if one is repeated, or if its encoding is invalid.
 */
export function givenName(disposition: string): string | null {
  const parameters = readParameters(disposition);
  if (!parameters) return null;
  const extended = parameters.get('filename*');
  if (extended !== undefined) return decodeExtended(extended);
  const plain = parameters.get('filename');
  return plain === undefined || plain.includes('\uFFFD') ? null : plain; // U+FFFD: the header was not UTF-8
}

/** Parses `type; a=token; b="quoted \" string"`; null if it is malformed. */
function readParameters(header: string): Map<string, string> | null {
  const parameters = new Map<string, string>();
  const parameter = /;\s*(?:([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"\s*(?=;|$)|([^";][^;]*|)))?/gsy;
  parameter.lastIndex = /^[^;=]*/.exec(header)![0].length;
  while (parameter.lastIndex < header.length) {
    const at = parameter.lastIndex;
    const found = parameter.exec(header);
    if (!found || parameter.lastIndex === at) return null;
    const [, name, quoted, token] = found;
    if (!name) continue; // an empty parameter: `;;`
    if (parameters.has(name.toLowerCase())) return null;
    parameters.set(name.toLowerCase(), quoted === undefined ? token!.trim() : quoted.replace(/\\(.)/gs, '$1'));
  }
  return parameters;
}

/** Decodes `UTF-8'en'%e2%82%ac.mp3` (RFC 5987), UTF-8 or ISO-8859-1. Null if the percent-encoding or the bytes are invalid. */
export function decodeExtended(value: string): string | null {
  const [, charset, text] = /^([^']*)'[^']*'(.*)$/s.exec(value) ?? [];
  if (charset === undefined || text === undefined || /%(?![0-9a-f]{2})/i.test(text) || text.includes('\uFFFD')) return null;
  const bytes = Buffer.from(
    text
      .replace(/[^%]+/g, (plain) => Buffer.from(plain).toString('latin1'))
      .replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
  if (/^iso-8859-1$/i.test(charset)) return bytes.toString('latin1');
  if (!/^utf-8$/i.test(charset)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Sanitises a name for storage: only the part after the last slash, without control characters and bidirectional marks, leading dots, and
 * trailing dots and spaces; NFC, at most LIMITS.FILENAME_BYTES with its extension kept. Empty if nothing is left.
 */
export function cleanName(given: string): string {
  const name = withoutEnd(
    given
      .slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1)
      .replace(/[\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g, '')
      .normalize('NFC')
      .replace(/^\.+/, ''),
  );
  if (Buffer.byteLength(name) <= LIMITS.FILENAME_BYTES) return name;
  const dot = name.lastIndexOf('.');
  const tail = dot > 0 && Buffer.byteLength(name.slice(dot)) < LIMITS.FILENAME_BYTES ? name.slice(dot) : '';
  return shorten(name.slice(0, name.length - tail.length), LIMITS.FILENAME_BYTES - Buffer.byteLength(tail)) + tail;
}

/** Without dots and spaces at its end. A regular expression tries each run of them, which takes seconds for a long one. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '.' || text[end - 1] === ' ')) end--;
  return text.slice(0, end);
}

/** The longest prefix in whole characters of at most `bytes` bytes. */
function shorten(text: string, bytes: number): string {
  let kept = '';
  let size = 0;
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (size > bytes) break;
    kept += character;
  }
  return kept;
}
