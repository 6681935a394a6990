/** A pattern for the search text; null if it is too short. */
export function pattern(search: string): RegExp | null {
  const wanted = search.trim();
  return wanted.length > 1 ? new RegExp(`(${wanted.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')})`, 'gi') : null;
}

/** Text with every occurrence of `search` highlighted. */
export function Marked({ text, search }: { text: string; search: string }) {
  const wanted = pattern(search);
  if (!wanted) return <>{text}</>;
  return <>{text.split(wanted).map((part, at) => (at % 2 ? <mark key={at}>{part}</mark> : part))}</>;
}
