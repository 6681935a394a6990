import { readyEngines } from '../../db/ops/facts.ts';
import { pendingMigrations } from '../../db/postgres/pending.ts';
import { forAll } from '../../db/postgres/wanted.ts';
import { json, type Route, route, type Services } from '../http/route.ts';

const PUBLIC = { tag: 'Operations', access: null, hidden: true, errors: [], answers: {} } as const;

export const healthz: Route = route({
  ...PUBLIC,
  method: 'GET',
  path: '/healthz',
  summary: 'Whether the process runs',
  handler: () => json(200, { status: 'ok' }),
});

export const readyz: Route = route({
  ...PUBLIC,
  method: 'GET',
  path: '/readyz',
  summary: 'Whether requests can be served: database, schema, spool. Without an engine it is degraded, not unready.',
  async handler(context) {
    const checks = await readiness(context);
    const ready = checks.database && checks.schema && checks.spool;
    return json(ready ? 200 : 503, { status: ready ? (checks.engines ? 'ready' : 'degraded') : 'unready', ...checks }, NOT_STORED);
  },
});

const NOT_STORED = { 'cache-control': 'no-store' };

interface Readiness {
  database: boolean;
  schema: boolean;
  spool: boolean;
  /** Engines that have polled within the last 30 s. */
  engines: number;
}

const FRESH_MS = 1_000;
const known = new WeakMap<Services['db'], { at: number; checks: Promise<Readiness> }>();

const LIMIT_MS = 2_500; // load balancers must learn of a hanging database or share within 3 s

async function inTime<T>(check: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${LIMIT_MS / 1000} s`)), LIMIT_MS);
  });
  return Promise.race([check, late]).finally(() => clearTimeout(timer));
}

/** Checked at most once per second regardless of the number of requests, because the check writes to the spool. */
function readiness({ db, spool, log }: Pick<Services, 'db' | 'spool' | 'log'>): Promise<Readiness> {
  const last = known.get(db);
  if (last && performance.now() - last.at < FRESH_MS) return last.checks;
  const passes = (part: string, check: Promise<unknown>) =>
    inTime(check).then(
      () => true,
      (error: unknown) => {
        log.warn({ error }, `not ready: ${part}`);
        return false;
      },
    );
  const checks = forAll(async () => {
    let engines = 0;
    const asked = readyEngines(db).then((count) => {
      engines = count;
    });
    const schema = pendingMigrations(db).then((pending) => {
      if (pending.length) throw new Error(`the database lacks the migrations ${pending.join(', ')}`);
    });
    const [database, current, writable] = await Promise.all([
      passes('the database', asked),
      passes('the schema', schema),
      passes('the spool', spool.writable()),
    ]);
    return { database, schema: current, spool: writable, engines };
  });
  known.set(db, { at: performance.now(), checks });
  return checks;
}
