/** What is looked for, as a pattern; null: too short to look for. */
export function pattern(search: string): RegExp | null {
  const wanted = search.trim();
  return wanted.length > 1 ? new RegExp(`(${wanted.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')})`, 'gi') : null;
}

/** Text with every occurrence of `search` marked. */
export function Marked({ text, search }: { text: string; search: string }) {
  const wanted = pattern(search);
  if (!wanted) return <>{text}</>;
  return <>{text.split(wanted).map((part, at) => (at % 2 ? <mark key={at}>{part}</mark> : part))}</>;
}
