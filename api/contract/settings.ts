import { z } from 'zod';
import { LIMITS, type Limits, TIGHTENABLE } from './limits.ts';

const flagless = z.string().trim();
const whole = (minimum: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(minimum, `must be at least ${minimum}`));
const PORTS = 65_535;
const port = z
  .string()
  .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= PORTS, `must be a whole number from 0 to ${PORTS}, where 0 picks a free port`)
  .transform(Number);
const databaseUrl = flagless.refine(
  isDatabaseUrl,
  'must be like postgres://USER:PASSWORD@HOST:5432/DATABASE; in user and password write %40 for @, %2F for /, %23 for #, %25 for %',
);

/** What the operator may set, by environment variable or `.env` file. Every one has a working default. */
const VARIABLES = {
  LONGHAND_HOME: flagless.default('.longhand'),
  HOST: flagless.default('127.0.0.1'),
  PORT: port.default(8080),
  DATABASE_URL: databaseUrl.optional(),
  LONGHAND_MEDIA: flagless.optional(),
  S3_ENDPOINT: flagless.optional(),
  LONGHAND_MASTER_KEY: flagless.optional(),
  LONGHAND_MASTER_KEY_FILE: flagless.optional(),
  LONGHAND_MODEL: flagless.default('whisper-base'),
  LONGHAND_DECODING: z.enum(['fast', 'accurate']).default('fast'),
  LONGHAND_DEVICE: z.enum(['auto', 'cpu', 'cuda', 'webgpu']).default('auto'),
  LONGHAND_THREADS: whole(1).optional(),
  LLM_BASE_URL: flagless.optional(),
  LLM_MODEL: flagless.optional(),
  LLM_API_KEY: flagless.optional(),
  LLM_CONTEXT: whole(1024).optional(),
  LONGHAND_TRUST_PROXY: flagless.optional(),
  LONGHAND_PUBLIC_URL: flagless.optional(),
  LONGHAND_RETENTION_DAYS: whole(1).optional(),
  LONGHAND_RATE_LIMIT: z
    .string()
    .regex(/^(0|\d+\/min)$/, 'must be like 600/min, or 0 for no limit')
    .default('600/min'),
  LONGHAND_WEBHOOK_PRIVATE: z.enum(['refuse', 'allow']).default('refuse'),
  OIDC_ISSUER: flagless.optional(),
  OIDC_CLIENT_ID: flagless.optional(),
  OIDC_CLIENT_SECRET: flagless.optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  LOG_FORMAT: z.enum(['pretty', 'json']).optional(),
} as const;

type Variables = { [K in keyof typeof VARIABLES]: z.output<(typeof VARIABLES)[K]> };

export interface Settings extends Variables {
  /** The promises, tightened by LONGHAND_LIMIT_*. */
  limits: Limits;
  /** Names of the variables that were set; the others have their defaults. */
  given: readonly string[];
}

export const SETTING_NAMES: readonly string[] = [...Object.keys(VARIABLES), ...TIGHTENABLE.map((name) => `LONGHAND_LIMIT_${name}`)];

/** Reads the settings. Throws one Error that lists every mistake: what was found, what was wanted, the nearest known name. */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const mistakes: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(VARIABLES)) {
    const parsed = schema.safeParse(environment[name] === '' ? undefined : environment[name]);
    if (parsed.success) values[name] = parsed.data;
    else
      mistakes.push(
        `${name}=${JSON.stringify(withoutSecrets(environment[name]!))}: ${parsed.error.issues.map((issue) => issue.message).join(', ')}`,
      );
  }
  const limits: Record<string, number> = { ...LIMITS };
  for (const name of TIGHTENABLE) {
    const text = environment[`LONGHAND_LIMIT_${name}`];
    if (text === undefined || text === '') continue;
    const value = Number(text);
    if (Number.isInteger(value) && value >= 1 && value <= LIMITS[name]) limits[name] = value;
    else
      mistakes.push(
        `LONGHAND_LIMIT_${name}=${JSON.stringify(text)}: must be a whole number from 1 to ${LIMITS[name]}; it may tighten the promise, not loosen it`,
      );
  }
  for (const name of Object.keys(environment)) {
    if (name.startsWith('LONGHAND_') && !SETTING_NAMES.includes(name))
      mistakes.push(`${name} is not a setting; did you mean ${nearest(name)}?`);
  }
  if (mistakes.length) throw new Error(`Cannot start with these settings:\n  ${mistakes.join('\n  ')}`);
  return { ...(values as Variables), limits: limits as Limits, given: SETTING_NAMES.filter((name) => environment[name]) };
}

function isDatabaseUrl(text: string): boolean {
  try {
    const { protocol, hostname, username, password, pathname, searchParams, hash } = new URL(text);
    const [database = '', ...more] = decodeURIComponent(pathname).slice(1).split('/');
    decodeURIComponent(username + password); // throws where a % stands for itself
    const reachable = hostname !== '' || searchParams.has('host');
    return /^postgres(ql)?:$/.test(protocol) && reachable && !more.length && !database.includes('@') && !hash;
  } catch {
    return false;
  }
}

/** A refused address is shown without its user and password, wherever those may end. */
function withoutSecrets(text: string): string {
  return text.replace(/^(\w+:\/\/)?.*@/s, '$1[hidden]@').replace(/(password=)[^\s&]+/gi, '$1[hidden]');
}

/** The known name with the smallest edit distance. */
function nearest(name: string): string {
  return SETTING_NAMES.reduce((best, known) => (distance(name, known) < distance(name, best) ? known : best));
}

/** Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
