import { patternsOf, spansOf } from '../finding.ts';

/** Text with the words of `search` highlighted. */
export function Marked({ text, search }: { text: string; search: string }) {
  let end = 0;
  const pieces = spansOf(text, patternsOf(search)).flatMap(([from, to]) => {
    const before = text.slice(end, from);
    end = to;
    return [before, <mark key={from}>{text.slice(from, to)}</mark>];
  });
  return (
    <>
      {pieces}
      {text.slice(end)}
    </>
  );
}
