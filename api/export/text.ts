/** Byte-order mark at the start of md and txt, so that Windows programs read them as UTF-8. */
export const MARK = '\ufeff';

/** The transcript as plain text, lines ending in LF. */
export function plainText(record: { text: string | null }): string {
  return MARK + (record.text ?? '');
}
