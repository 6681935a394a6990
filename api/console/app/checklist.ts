const ITEM = /^- ([✓✗~]) ([^:\n]+): (.*)$/;

/** A report in which the items of a checklist are a table, with the score above it. All else stays as it is. */
export function checklistTables(text: string): string {
  const lines = text.split('\n');
  const written: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const items = run(lines, at);
    if (items.length < 2) {
      written.push(lines[at]!);
      continue;
    }
    const met = items.filter(([, mark]) => mark === '✓').length;
    written.push(`**${met} of ${items.length}**`, '', '| | Criterion | Evidence |', '| --- | --- | --- |');
    for (const [, mark, criterion, evidence] of items) written.push(`| ${mark} | ${cell(criterion!)} | ${cell(evidence!)} |`);
    at += items.length - 1;
  }
  return written.join('\n');
}

function run(lines: readonly string[], from: number): RegExpExecArray[] {
  const items: RegExpExecArray[] = [];
  for (let match = ITEM.exec(lines[from] ?? ''); match; match = ITEM.exec(lines[from + items.length] ?? '')) items.push(match);
  return items;
}

const cell = (text: string) => text.replaceAll('|', '\\|');
