import path from 'node:path';
import type { Settings } from '../../api/contract/settings.ts';
import { requirePort } from '../../api/http/port.ts';
import { type Embedded, startEmbedded } from '../../db/postgres/embedded.ts';
import { migrate } from '../../db/postgres/migrate.ts';
import { openDb } from '../../db/postgres/orm.ts';
import { fittingModel } from '../../models/fit.ts';
import { type Part, supervise } from './children.ts';
import { firstKey, instructions } from './first.ts';
import { claimHome } from './home.ts';

const LISTENING = /^listening on (http\S+)$/;
const GRACE_MS = 45_000; // above the time that the API gives to uploads in flight

/** Runs database, API and engine until it is told to stop, and ends them in the opposite order. Throws when one of them cannot start. */
export async function serve(settings: Settings, json: boolean): Promise<void> {
  const stop = stopSignal();
  await fittingModel(settings.LONGHAND_MODEL, settings.LONGHAND_HOME);
  const home = claimHome(settings.LONGHAND_HOME);
  let server: Embedded | undefined;
  const parts: Part[] = [];
  try {
    await requirePort(settings.HOST, settings.PORT); // before a database is started for nothing
    if (!settings.DATABASE_URL) {
      server = await startEmbedded(path.join(settings.LONGHAND_HOME, 'postgres'));
      home.announce({ database: server.url });
    }
    const url = server?.url ?? settings.DATABASE_URL!;
    await prepareSchema(url);
    let port = String(settings.PORT);
    const common = { log: (line: string) => void process.stderr.write(`${line}\n`) };
    const api = supervise({ ...common, name: 'api', ready: LISTENING, environment: () => ({ DATABASE_URL: url, PORT: port }) });
    const engine = supervise({ ...common, name: 'engine', ready: /^working/, environment: () => ({ DATABASE_URL: url }) });
    parts.push(api, engine);
    const base = LISTENING.exec(await Promise.race([api.ready, stop.then(() => '')]))?.[1];
    if (base) {
      port = new URL(base).port; // kept over restarts, also when it was picked
      home.announce({ url: base });
      await tell(settings, url, base, json);
      await Promise.race([stop, server ? ended(server) : stop, engine.ready.then(() => stop)]);
    }
  } finally {
    for (const part of parts) await part.stop(GRACE_MS);
    await server?.stop();
    home.release();
  }
}

async function prepareSchema(url: string): Promise<void> {
  const db = await openDb({ url, pool: 2, name: 'longhand-up' });
  try {
    await migrate(db);
  } finally {
    await db.close();
  }
}

/** The very first start makes a workspace and shows its key, this once; every start says where it listens. */
async function tell(settings: Settings, database: string, base: string, json: boolean): Promise<void> {
  const first = await firstKey(settings, database);
  if (json) process.stdout.write(`${JSON.stringify({ url: base, ...first })}\n`);
  else process.stdout.write(`${first ? instructions(base, first.key) : ''}listening on ${base}\n`);
}

async function ended(server: Embedded): Promise<never> {
  if (server.process.exitCode === null && server.process.signalCode === null)
    await new Promise((resolve) => server.process.once('exit', resolve));
  throw new Error(
    'The embedded PostgreSQL ended; see postgres/postgres.log in the state folder. Start again: nothing that was accepted is lost.',
  );
}

/** Resolves with the first SIGINT, SIGTERM or SIGHUP (a terminal is closed); the second ends the program at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let count = 0;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => {
        if (count++) process.exit(1);
        process.stderr.write('stopping …\n');
        resolve();
      });
  });
}
