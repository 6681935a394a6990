import { parseArgs } from 'node:util';

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>;
type Values<O extends Options> = ReturnType<typeof parseArgs<{ options: O }>>['values'];

/** The number that is given with an option. Throws unless it is above 0. */
export function numberOf(option: string, given: string): number {
  const value = Number(given);
  if (!(value > 0)) throw new Error(`Cannot use --${option} ${given}: it must be a number above 0`);
  return value;
}

/**
 * Parses the options of a program, and what `use` makes of their values. Exits with 2 and a message, not a stack trace, if one is invalid.
 */
export function readOptions<O extends Options, R>(options: O, use: (values: Values<O>) => R): R {
  try {
    return use(parseArgs({ options }).values);
  } catch (error) {
    const known = Object.keys(options).map((name) => `--${name}`);
    process.stderr.write(`${(error as Error).message}. Options: ${known.join(', ')}\n`);
    process.exit(2);
  }
}

/** As `readOptions`, for a program whose options are positive numbers with defaults, and `--json`. */
export function readNumbers<K extends string>(defaults: Record<K, number>): Record<K, number> & { json: boolean } {
  const texts = Object.entries<number>(defaults).map(([name, value]) => [name, { type: 'string', default: String(value) }] as const);
  return readOptions({ ...Object.fromEntries(texts), json: { type: 'boolean', default: false } }, (values) => {
    const read = Object.entries(values).map(([name, given]) => [name, typeof given === 'string' ? numberOf(name, given) : given]);
    return Object.fromEntries(read) as Record<K, number> & { json: boolean };
  });
}
