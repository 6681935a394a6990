import { parseArgs } from 'node:util';

/** The number that is given with an option. Throws unless it is above 0. */
export function numberOf(option: string, given: string): number {
  const value = Number(given);
  if (!(value > 0)) throw new Error(`Cannot use --${option} ${given}: it must be a number above 0`);
  return value;
}

/**
 * Parses the options of a program whose options are positive numbers with defaults, and `--json`. Exits with 2 and a message if one is
 * invalid.
 */
export function readNumbers<K extends string>(defaults: Record<K, number>): Record<K, number> & { json: boolean } {
  const texts = Object.entries<number>(defaults).map(([name, value]) => [name, { type: 'string', default: String(value) }] as const);
  try {
    const { values } = parseArgs({ options: { ...Object.fromEntries(texts), json: { type: 'boolean', default: false } } });
    const read = Object.entries(values).map(([name, given]) => {
      return [name, typeof given === 'string' ? numberOf(name, given) : given];
    });
    return Object.fromEntries(read) as Record<K, number> & { json: boolean };
  } catch (error) {
    const known = Object.keys(defaults).map((name) => `--${name}`);
    process.stderr.write(`${(error as Error).message}. Options: ${known.join(', ')}, --json\n`);
    process.exit(2);
  }
}
