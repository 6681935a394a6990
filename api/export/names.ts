import { encodeExtended } from 'content-disposition';
import { EXTENSIONS } from '../contract/formats.ts';

const BASE_BYTES = 230; // leaves room for a counter and an extension within the 255 bytes of most file systems
const NAMELESS = 'transcription';
/** Device names on Windows, reserved with any extension and with spaces before it. */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *([.:].*)?$/i;

/** Windows interprets a letter and a colon as a drive, and yazl refuses the whole archive because of it. */
const DRIVE = /^([a-z]):/i;

/**
 * Converts a title to a file name without extension: no known media extension, path, control characters, or dots and spaces at the ends.
 */
export function baseName(title: string | null): string {
  const clean = (title ?? '')
    .normalize('NFC')
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/[/\\]/g, '-');
  const dot = clean.lastIndexOf('.');
  const known = dot >= 0 && EXTENSIONS.has(clean.slice(dot + 1).toLowerCase());
  const name = ends(shorten(ends(known ? clean.slice(0, dot) : clean)).replace(/\.{2,}/g, '.')).replace(DRIVE, '$1-');
  return DEVICE.test(name) ? `_${name}` : name || NAMELESS;
}

/** Trims dots and spaces. */
function ends(name: string): string {
  return name.replace(/^[.\s]+/, '').replace(/[.\s]+$/, '');
}

/** Truncates to BASE_BYTES bytes of UTF-8, between characters. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= BASE_BYTES) return name;
  let bytes = 0;
  let kept = '';
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > BASE_BYTES) break;
    kept += character;
  }
  return kept;
}

/**
 * Names for the entries of an archive, one per title: unique ignoring case. Titles keep their name where possible; duplicates get counters
 * that skip taken names.
 */
export function entryNames(titles: readonly (string | null)[], extension: string): string[] {
  const bases = titles.map(baseName);
  const taken = new Set<string>();
  const take = (name: string) => !taken.has(fold(name)) && !!taken.add(fold(name));
  const first = bases.map((base) => take(base));
  return bases.map((base, index) => {
    let name = base;
    for (let counter = 2; !first[index] && !take((name = `${base} (${counter})`)); counter++);
    return `${name}.${extension}`;
  });
}

/** in both directions, because two lower-case letters may share a capital */
function fold(name: string): string {
  return name.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC');
}

/** The Content-Disposition of a download: an ASCII name for old clients and the full name for others. */
export function attachment(name: string): string {
  const fallback = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/^\.+|["%/\\]|[^\x20-\x7e]/gu, '_'); // NFKD produces slashes and dots from other characters
  return `attachment; filename="${fallback}"; filename*=${encodeExtended(name)}`;
}
