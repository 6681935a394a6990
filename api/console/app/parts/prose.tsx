import type { ComponentChildren, JSX } from 'preact';

type Seek = ((seconds: number) => string | null) | undefined;

/** Renders the Markdown of reports: headings, lists, tables, emphasis. `seek` returns the URL for a time such as [01:12]. */
export function Prose({ text, seek }: { text: string; seek?: Seek }) {
  const blocks = text.replace(/\r/g, '').split(/\n{2,}|\n(?=#{1,6} )|(?<=^#{1,6} .*)\n/m);
  return (
    <div class="prose" dir="auto">
      {blocks.filter((block) => block.trim()).map((block, index) => paint(block.trimEnd(), index, seek))}
    </div>
  );
}

const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+/;

function paint(block: string, key: number, seek: Seek): JSX.Element {
  const lines = block.split('\n');
  const heading = /^#{1,6} +(.*)/.exec(lines[0]!);
  if (heading) return <h3 key={key}>{inline(heading[1]!, seek)}</h3>;
  if (lines.length > 1 && /^\s*\|?[\s:|-]+\|[\s:|-]*$/.test(lines[1]!)) return <Grid key={key} lines={lines} seek={seek} />;
  const first = lines.findIndex((line) => ITEM.test(line));
  if (first < 0) return <p key={key}>{broken(lines, seek)}</p>;
  const items: string[][] = [];
  for (const line of lines.slice(first)) {
    if (ITEM.test(line) || !items.length) items.push([line.replace(ITEM, '')]);
    else items.at(-1)!.push(line.trim());
  }
  const List = /^\s*\d/.test(lines[first]!) ? 'ol' : 'ul';
  return (
    <div key={key}>
      {first > 0 && <p>{broken(lines.slice(0, first), seek)}</p>}
      <List>
        {items.map((item) => (
          <li key={item.join()}>
            {inline(
              item
                .join(' ')
                .replace(/^\[ \] /, '☐ ')
                .replace(/^\[x\] /i, '☑ '),
              seek,
            )}
          </li>
        ))}
      </List>
    </div>
  );
}

function Grid({ lines, seek }: { lines: string[]; seek: Seek }) {
  const cells = (line: string) =>
    line
      .trim()
      .replace(/^\||\|$/g, '')
      .split('|');
  return (
    <table>
      <thead>
        <tr>
          {cells(lines[0]!).map((cell) => (
            <th key={cell}>{inline(cell.trim(), seek)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {lines.slice(2).map((line) => (
          <tr key={line}>
            {cells(line).map((cell, at) => (
              <td key={at}>{inline(cell.trim(), seek)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function broken(lines: string[], seek: Seek): ComponentChildren[] {
  return lines.flatMap((line, at) => (at ? [<br key={line} />, ...inline(line, seek)] : inline(line, seek)));
}

/** `**strong**`, `*emphasis*`, `code` and times. */
function inline(text: string, seek: Seek): ComponentChildren[] {
  return text.split(/(\*\*[^*]+\*\*|(?<![\w*])[*_][^*_\s][^*_]*[*_](?!\w)|`[^`]+`|\[\d{2,}:\d{2}\])/).map((part, at) => {
    if (at % 2 === 0) return part;
    if (part.startsWith('**')) return <strong key={at}>{part.slice(2, -2)}</strong>;
    if (part.startsWith('`')) return <code key={at}>{part.slice(1, -1)}</code>;
    if (!part.startsWith('[')) return <em key={at}>{part.slice(1, -1)}</em>;
    const [minutes, seconds] = part.slice(1, -1).split(':').map(Number) as [number, number];
    const address = seek?.(minutes * 60 + seconds);
    return address ? (
      <a key={at} href={address}>
        {part}
      </a>
    ) : (
      part
    );
  });
}
