type Result = Record<string, unknown>;

const DECIMALS = 2; // decimals shown; JSON has all of them

/** Prints a result to standard output: as JSON, or human-readable as `name: value` lines, a list as a table. */
export function print(result: object, json: boolean | undefined): void {
  process.stdout.write(`${json ? JSON.stringify(result) : Array.isArray(result) ? table(result) : lines(result)}\n`);
}

/** Prints rows as CSV (RFC 4180) with a header; nothing if there are none. */
export function printCsv(rows: Result[]): void {
  if (!rows.length) return;
  const names = Object.keys(rows[0] ?? {});
  const cell = (value: unknown) => {
    const text = value === null || value === undefined ? '' : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  process.stdout.write(
    [names, ...rows.map((row) => names.map((name) => row[name]))].map((row) => `${row.map(cell).join(',')}\r\n`).join(''),
  );
}

function lines(result: object): string {
  return Object.entries(result)
    .map(([name, value]) => `${name}: ${shown(value)}`)
    .join('\n');
}

function table(rows: Result[]): string {
  const names = Object.keys(rows[0] ?? {});
  if (!names.length) return 'none';
  const cells = [names, ...rows.map((row) => names.map((name) => shown(row[name])))];
  const widths = names.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'number') return String(Number(value.toFixed(DECIMALS)));
  return Array.isArray(value) ? value.join(',') || 'none' : typeof value === 'object' ? JSON.stringify(value) : String(value);
}
