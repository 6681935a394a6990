import { parseArgs } from 'node:util';

/**
 * Parses the options of a program whose options are positive numbers with defaults, and `--json`. Exits with 2 and a message if one is
 * invalid.
 */
export function readNumbers<K extends string>(defaults: Record<K, number>): Record<K, number> & { json: boolean } {
  const texts = Object.entries<number>(defaults).map(([name, value]) => [name, { type: 'string', default: String(value) }] as const);
  try {
    const { values } = parseArgs({ options: { ...Object.fromEntries(texts), json: { type: 'boolean', default: false } } });
    const read = Object.entries(values).map(([name, given]) => {
      const value = typeof given === 'string' ? Number(given) : given;
      if (typeof value === 'number' && !(value > 0)) throw new Error(`Cannot use --${name} ${given}: it must be a number above 0`);
      return [name, value];
    });
    return Object.fromEntries(read) as Record<K, number> & { json: boolean };
  } catch (error) {
    const known = Object.keys(defaults).map((name) => `--${name}`);
    process.stderr.write(`${(error as Error).message}. Options: ${known.join(', ')}, --json\n`);
    process.exit(2);
  }
}
