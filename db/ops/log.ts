import { pino } from 'pino';
import pretty from 'pino-pretty';
import type { Settings } from '../../api/contract/settings.ts';

/**
 * Structured logs of API and engine. Fields contain ids, counts and codes: never transcripts, titles, names, external ids, metadata or
 * keys.
 */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const KEPT = 65_536; // bytes of log lines buffered while they cannot be written
const SECRET = ['authorization', 'key', 'token', 'password', 'secret', 'cookie'];

/** Opens the log on standard error: JSON, or formatted lines if standard error is a terminal or LOG_FORMAT says so. */
export function openLog(settings: Pick<Settings, 'LOG_LEVEL' | 'LOG_FORMAT'>, part: string): Log {
  const format = settings.LOG_FORMAT ?? (process.stderr.isTTY ? 'pretty' : 'json');
  const options = {
    level: settings.LOG_LEVEL,
    base: { part },
    redact: { paths: SECRET.flatMap((name) => [name, `*.${name}`, `*["x-${name}"]`]), censor: '[hidden]' },
    serializers: { error: describe },
  };
  if (format === 'pretty') return pino(options, pretty({ destination: 2, sync: true, ignore: 'pid,hostname,part' }));
  const destination = pino.destination({ dest: 2, sync: true, maxLength: KEPT });
  destination.on('error', () => {}); // full disk, closed terminal: log lines are lost, work continues
  return pino(options, destination);
}

/** An error without the values of the statement that failed: drivers put parameters into their messages. */
function describe(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: 'something that is not an Error was thrown' };
  const { code, constraint, routine } = error as Error & { code?: unknown; constraint?: unknown; routine?: unknown };
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line));
  const driver = routine !== undefined || error.name.endsWith('Exception');
  return { name: error.name, message: driver ? undefined : error.message, code, constraint, stack: frames?.slice(0, 12).join('\n') };
}
