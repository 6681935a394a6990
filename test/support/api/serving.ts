import { readSettings } from '../../../api/contract/settings.ts';
import { BAD_KEYS, openThrottle } from '../../../api/guard/limiter.ts';
import type { Route } from '../../../api/http/route.ts';
import { type ServeOptions, serve } from '../../../api/http/server.ts';
import { openMetrics } from '../../../api/ops/metrics.ts';
import { openLog } from '../../../db/ops/log.ts';

/** Common properties of the test routes. */
export const PLAIN = { summary: 'A route', tag: 'Test', access: null, answers: {}, errors: [] } as const;

/** Serves routes that require neither key nor database. Returns the URL. */
export async function serveRoutes(
  t: { teardown(after: () => unknown): void },
  routes: readonly Route[],
  environment: Record<string, string> = {},
): Promise<string> {
  const settings = readSettings({ LOG_LEVEL: 'silent', ...environment });
  const options = {
    settings,
    limits: settings.limits,
    log: openLog(settings, 'test'),
    metrics: openMetrics(),
    badCredentials: openThrottle(BAD_KEYS),
  };
  const served = await serve({ ...options, routes, host: settings.HOST, port: 0 } as unknown as ServeOptions); // these routes use nothing else
  t.teardown(() => served.stop(1));
  return `http://127.0.0.1:${served.port}`;
}
