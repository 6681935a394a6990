import { randomUUID } from 'node:crypto';
import { openClockWatch } from '../db/jobs/clock.ts';
import type { Log } from '../db/ops/log.ts';
import type { Db } from '../db/postgres/orm.ts';
import type { Vault } from '../db/secrets/vault.ts';
import type { Spool } from '../db/spool/spool.ts';
import { openTotals } from '../db/transcripts/totals.ts';
import { sweepUploads } from '../db/uploads/accept.ts';
import { sendNotices } from './console/notices.ts';
import { consoleRoutes } from './console/routes.ts';
import type { Settings } from './contract/settings.ts';
import { openCallers } from './guard/caller.ts';
import { BAD_KEYS, FAILED_SIGN_INS, openRateLimiter, openThrottle, REGISTRATIONS } from './guard/limiter.ts';
import type { Services } from './http/route.ts';
import { serve } from './http/server.ts';
import { openMetrics } from './ops/metrics.ts';
import { listenForMetrics } from './ops/metrics-listener.ts';
import { keepAlive } from './upload/upload.ts';
import { openRecords } from './v1/records.ts';
import { ROUTES } from './v1/routes.ts';
import { openWaits } from './v1/waits.ts';

export interface AppOptions {
  db: Db;
  vault: Vault;
  spool: Spool;
  settings: Settings;
  log: Log;
}

export interface App {
  port: number;
  /** `http://host:port`, without a path. */
  url: string;
  /** Where `/metrics` is; null when it has no listener of its own. */
  metricsUrl: string | null;
  /** Accepts nothing new, lets uploads finish for at most this long. The leases of those that could not are given back. */
  stop(graceSeconds: number): Promise<void>;
}

const HOUSEKEEPING_MS = 60_000;

/** The API on an open database, listening. */
export async function startApp({ db, vault, spool, settings, log }: AppOptions): Promise<App> {
  const clock = openClockWatch(db);
  await clock.read();
  const services: Services = {
    ...{ db, clock, vault, spool, settings, log },
    limits: settings.limits,
    metrics: openMetrics(),
    records: openRecords(db, vault),
    waits: openWaits(db, (error) => log.warn({ error }, 'cannot check waiting requests')),
    totals: openTotals(),
    nodeId: randomUUID(),
    uploadsInFlight: new Set(),
    rateLimiter: openRateLimiter(db, settings.LONGHAND_RATE_LIMIT),
    badCredentials: openThrottle(BAD_KEYS),
    signIns: openThrottle(FAILED_SIGN_INS),
    registrations: openThrottle(REGISTRATIONS),
  };
  const metrics = await listenForMetrics(services, settings);
  if (metrics) log.info({ url: metrics.url }, 'serving metrics');
  else if (settings.LONGHAND_METRICS !== 'public' && settings.LONGHAND_METRICS !== 'off')
    log.warn(
      { address: settings.LONGHAND_METRICS },
      'not serving metrics: the address is in use. Set LONGHAND_METRICS to another address, or to off',
    );
  const served = await serve({
    ...services,
    routes: [...ROUTES, ...consoleRoutes(ROUTES)],
    callers: openCallers(db),
    host: settings.HOST,
    port: settings.PORT,
  }).catch((error: unknown) => {
    metrics?.close();
    throw error;
  });
  const stopBeating = keepAlive(services);
  const housekeeping = setInterval(() => {
    Promise.all([clock.read().then(() => sweepUploads(db, clock.latest())), sendNotices(services)]).catch((error: unknown) =>
      log.warn({ error }, 'cannot remove expired leases or send notices'),
    ); // the rest is tidied up once for the fleet, by an engine
  }, HOUSEKEEPING_MS);
  return {
    port: served.port,
    metricsUrl: metrics?.url ?? null,
    url: `http://${settings.HOST.includes(':') ? `[${settings.HOST}]` : settings.HOST}:${served.port}`,
    async stop(graceSeconds) {
      clearInterval(housekeeping);
      services.waits.close();
      metrics?.close();
      await served.stop(graceSeconds);
      stopBeating();
    },
  };
}
