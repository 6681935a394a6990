/** The byte-order mark that md and txt begin with, so that Windows programs read them as UTF-8. */
export const MARK = '\ufeff';

/** The transcript as plain text, lines ending in LF. */
export function plainText(record: { text: string | null }): string {
  return MARK + (record.text ?? '');
}
