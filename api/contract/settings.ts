import { closest } from 'fastest-levenshtein';
import { z } from 'zod';
import { isDatabaseUrl, isWebUrl, PORTS, parseEndpoint } from './addresses.ts';
import { LIMITS, type Limits, TIGHTENABLE } from './limits.ts';
import { parseRouting } from './routing.ts';

const flagless = z.string().trim();
const whole = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(minimum, `must be at least ${minimum}`).max(maximum, `must be at most ${maximum}`));
const DAYS = 36_500; // of 10,000,000, PostgreSQL finds no date
const DAY_S = 86_400; // a timer of Node that is set to more than 24 days ends at once
const port = z
  .string()
  .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= PORTS, `must be a whole number from 0 to ${PORTS}, where 0 picks a free port`)
  .transform(Number);
const metrics = flagless.refine(
  (text) => text === 'off' || text === 'public' || parseEndpoint(text) !== null,
  `must be like 127.0.0.1:9464 or [::]:9464, or one of public, off`,
);
const routing = flagless.superRefine((text, context) => {
  try {
    parseRouting(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
  }
});
const databaseUrl = flagless.refine(
  isDatabaseUrl,
  'must have the form postgres://USER:PASSWORD@HOST:5432/DATABASE; in user and password write %40 for @, %2F for /, %23 for #, %25 for %',
);

const webUrl = flagless.refine(isWebUrl, 'must be a URL that begins with https:// or http://, such as https://longhand.example');

const SECRET = { secret: true }; // never shown

/** The operator's settings, from environment variables or an `.env` file. All have working defaults. */
const VARIABLES = {
  LONGHAND_HOME: flagless
    .default('.longhand')
    .describe(
      'State folder: embedded database, spool, master key, imported models. By default in the checkout; relative paths are relative to the current folder',
    ),
  HOST: flagless.default('127.0.0.1').describe('Address to listen on; `0.0.0.0` or `::` for every interface'),
  PORT: port.default(8080).describe('Port to listen on; `0` selects a free port, which is printed at startup'),
  DATABASE_URL: databaseUrl
    .optional()
    .describe('PostgreSQL 14 or newer, as `postgres://USER:PASSWORD@HOST:5432/DATABASE`. Default: `up` runs an embedded PostgreSQL'),
  LONGHAND_MEDIA: flagless
    .refine((text) => !/^\w+:\/\//.test(text) || /^s3:\/\/[^/]/.test(text), 'must be a folder, or have the form s3://bucket/prefix')
    .optional()
    .describe('The spool: a folder shared by all API and engine hosts, or `s3://bucket/prefix`. Default: `$LONGHAND_HOME/spool`'),
  S3_ENDPOINT: webUrl.optional().describe('Endpoint of an S3-compatible store; region and credentials come from the usual AWS variables'),
  LONGHAND_MASTER_KEY: flagless
    .optional()
    .describe(
      'Master key: 32 bytes in base64; several keys comma-separated, newest first. Default: `$LONGHAND_HOME/master.key`, created at the first start',
    )
    .meta(SECRET),
  LONGHAND_MASTER_KEY_FILE: flagless.optional().describe('Existing file with the master key, in the same format; it is not created'),
  LONGHAND_MODEL: flagless
    .default('whisper-base')
    .describe(
      'ASR model: any name listed by `scripts/longhand models list`, or `auto`: the multilingual Whisper model with the lowest word error rate in English of those checked on this machine (`models check`) that fit into its memory and have an RTFx of at least 4; with a GPU, of those that run on it, if there are any',
    ),
  LONGHAND_MODELS: routing
    .optional()
    .describe(
      'ASR models by language, such as `ru,kk=gigaam-v3,en=parakeet-v3,*=whisper-small`; `*` replaces `LONGHAND_MODEL` and detects the language. Default: `LONGHAND_MODEL` for all',
    ),
  LONGHAND_DECODING: z
    .enum(['fast', 'accurate'])
    .default('fast')
    .describe('`accurate` decodes with beam search: fewer errors, about 1.9 times the time of recognition'),
  LONGHAND_DEVICE: z
    .enum(['auto', 'cpu', 'cuda', 'webgpu'])
    .default('auto')
    .describe('Device that runs the models; logs, `bench` and `/metrics` show the one in use'),
  LONGHAND_THREADS: whole(1, 1024)
    .optional()
    .describe(
      "Worker threads of an engine. Default: physical cores, lowered to the container's CPU or memory limit; with CUDA at most 8, as far as the GPU's memory allows; always 1 with WebGPU",
    ),
  LLM_BASE_URL: webUrl
    .optional()
    .describe(
      'Base URL of an OpenAI-compatible language model for reports, titles and summaries. Without it they are extractive: sentences quoted from the transcript',
    ),
  LLM_MODEL: flagless.optional().describe('Name of the language model'),
  LLM_API_KEY: flagless.optional().describe('API key for `LLM_BASE_URL`').meta(SECRET),
  LLM_CONTEXT: whole(1024, 100_000_000)
    .optional()
    .describe('Context length of the language model in tokens, if the endpoint does not report it'),
  LONGHAND_TRUST_PROXY: flagless
    .optional()
    .describe('Addresses or networks of proxies whose `X-Forwarded-For` is trusted, comma-separated'),
  LONGHAND_PUBLIC_URL: webUrl
    .transform((text) => new URL(text).href.replace(/\/+$/, '')) // as browsers write it
    .optional()
    .describe('Public URL of the service; used in links, redirects and OAuth metadata'),
  LONGHAND_WAIT_S: whole(1, DAY_S)
    .default(600)
    .describe('Seconds that `/v1/audio/transcriptions` waits for a transcript before it responds with 504'),
  LONGHAND_RETENTION_DAYS: whole(1, DAYS)
    .optional()
    .describe('Days after which transcripts are deleted. Default: kept until deleted manually'),
  LONGHAND_KEEP_RECORDINGS_DAYS: whole(0, DAYS)
    .default(0)
    .describe('Most days for which workspaces may keep recordings after transcription. `0`: none are kept'),
  LONGHAND_RATE_LIMIT: z
    .string()
    .regex(/^(0|\d+\/min)$/, 'must have the form 600/min, or 0 for no limit')
    .default('600/min')
    .describe('Requests per minute and key; `0` for no limit'),
  LONGHAND_WEBHOOK_PRIVATE: z
    .enum(['refuse', 'allow'])
    .default('refuse')
    .describe('`allow` permits webhooks to loopback and private networks'),
  OIDC_ISSUER: webUrl.optional().describe('Issuer URL of the OpenID Connect provider for console sign-in'),
  OIDC_CLIENT_ID: flagless.optional().describe('Client id at the OpenID Connect provider'),
  OIDC_CLIENT_SECRET: flagless.optional().describe('Client secret at the OpenID Connect provider').meta(SECRET),
  OIDC_UNVERIFIED_EMAIL: z
    .enum(['refuse', 'trust_and_risk_impersonation'])
    .default('refuse')
    .describe(
      'For providers that do not send `email_verified`: `trust_and_risk_impersonation` accepts unverified e-mail addresses, so anyone who can set an address there can sign in as the member with that address',
    ),
  SMTP_URL: flagless
    .refine(
      (text) => /^smtps?:\/\/[^\s]+$/.test(text) && URL.canParse(text),
      'must have the form smtps://USER:PASSWORD@HOST:465 or smtp://HOST:587',
    )
    .optional()
    .describe('Mail server for invitations and notices. Without it, invitation links must be passed on manually'),
  MAIL_FROM: flagless
    .refine((text) => /^[^\s@]+@[^\s@]+$|<[^\s@]+@[^\s@]+>$/.test(text), 'must be an address, such as Longhand <longhand@example.com>')
    .optional()
    .describe('Sender of these messages, such as `Longhand <longhand@example.com>`; required with `SMTP_URL`'),
  LONGHAND_METRICS: metrics
    .default('127.0.0.1:9464')
    .describe('Where the API serves `/metrics`: a separate address and port, `public` for the main port with a token, or `off`'),
  LONGHAND_METRICS_TOKEN: flagless
    .refine((text) => /^[!-~]{16,}$/.test(text), 'must be at least 16 printable ASCII characters, as from openssl rand -hex 32')
    .optional()
    .describe('Bearer token required to read `/metrics`; mandatory for `LONGHAND_METRICS=public`')
    .meta(SECRET),
  LONGHAND_URL: webUrl.optional().describe('For `upload`: URL of the service, instead of `--url`'),
  LONGHAND_KEY: flagless
    .optional()
    .describe('For `upload`: API key, instead of `--key`, which is visible in the process list')
    .meta(SECRET),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Minimum log level. Logs contain ids and counts, never transcripts'),
  LOG_FORMAT: z.enum(['pretty', 'json']).optional().describe('Format of log lines. Default: `pretty` on a terminal, else `json`'),
} as const;

type Variables = { [K in keyof typeof VARIABLES]: z.output<(typeof VARIABLES)[K]> };

export interface Settings extends Variables {
  /** The limits, lowered by LONGHAND_LIMIT_*. */
  limits: Limits;
  /** Names of the variables that were set; the others have their defaults. */
  given: readonly string[];
}

export const SETTING_NAMES: readonly string[] = [...Object.keys(VARIABLES), ...TIGHTENABLE.map((name) => `LONGHAND_LIMIT_${name}`)];

/** Reads the settings. Throws one Error that lists every problem: the value found, what was expected, and the most similar name. */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const mistakes: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(VARIABLES)) {
    const parsed = schema.safeParse(environment[name] === '' ? undefined : environment[name]);
    if (parsed.success) values[name] = parsed.data;
    else
      mistakes.push(
        `${name}=${JSON.stringify(withoutSecrets(name, environment[name]!))}: ${parsed.error.issues.map((issue) => issue.message).join(', ')}`,
      );
  }
  if (typeof values.LONGHAND_MODELS === 'string') {
    const { others } = parseRouting(values.LONGHAND_MODELS);
    const given = environment.LONGHAND_MODEL;
    if (others && given && given.trim() !== others)
      mistakes.push(
        `LONGHAND_MODEL is ${given} and LONGHAND_MODELS has *=${others}: expected one model for all other languages; remove one`,
      );
    values.LONGHAND_MODEL = others ?? values.LONGHAND_MODEL;
  }
  const limits: Record<string, number> = { ...LIMITS };
  for (const name of TIGHTENABLE) {
    const text = environment[`LONGHAND_LIMIT_${name}`];
    if (text === undefined || text === '') continue;
    const value = Number(text);
    if (Number.isInteger(value) && value >= 1 && value <= LIMITS[name]) limits[name] = value;
    else
      mistakes.push(
        `LONGHAND_LIMIT_${name}=${JSON.stringify(text)}: must be a whole number from 1 to ${LIMITS[name]}; it can be lowered, not raised`,
      );
  }
  for (const name of Object.keys(environment)) {
    if (name.startsWith('LONGHAND_') && !SETTING_NAMES.includes(name))
      mistakes.push(`${name} is not a setting; did you mean ${closest(name, SETTING_NAMES)}?`);
  }
  if (values.LONGHAND_METRICS === 'public' && !values.LONGHAND_METRICS_TOKEN)
    mistakes.push('LONGHAND_METRICS=public needs LONGHAND_METRICS_TOKEN: without it anyone could read the names of hosts and models');
  if (values.OIDC_ISSUER && !(values.OIDC_CLIENT_ID && values.OIDC_CLIENT_SECRET))
    mistakes.push('OIDC_ISSUER needs OIDC_CLIENT_ID and OIDC_CLIENT_SECRET, from the provider: without them nobody can sign in there');
  if (values.SMTP_URL && !environment.MAIL_FROM) mistakes.push('SMTP_URL needs MAIL_FROM, the sender: without it no message is sent');
  if (mistakes.length) throw new Error(`Cannot start with these settings:\n  ${mistakes.join('\n  ')}`);
  return { ...(values as Variables), limits: limits as Limits, given: SETTING_NAMES.filter((name) => environment[name]) };
}

/** The value of a setting, valid or not, as it may be shown: secrets, users and passwords are hidden wherever they may end. */
export function withoutSecrets(name: string, value: string): string {
  const schema = (VARIABLES as Record<string, z.ZodType>)[name];
  if (schema?.meta()?.secret) return value && '[hidden]';
  const hasUser = name.endsWith('_URL') || /:.*@/s.test(value); // not the sender of messages
  const address = hasUser ? value.replace(/^(\w+:\/\/)?.*@/s, '$1[hidden]@') : value;
  return address.replace(/((?:password|token|secret|key)=)[^\s&]+/gi, '$1[hidden]');
}

/** A setting as documented. */
export interface SettingDescription {
  name: string;
  /** Default value; null if it depends on other things or there is none. */
  standard: string | null;
  meaning: string;
}

/** Every setting that is not a limit, in the order of the table. */
export function describeSettings(): SettingDescription[] {
  return Object.entries(VARIABLES).map(([name, schema]) => {
    const standard = schema.safeParse(undefined).data;
    return { name, standard: standard === undefined ? null : String(standard), meaning: schema.description ?? '' };
  });
}
