import path from 'node:path';
import type { Settings } from '../../api/contract/settings.ts';
import { requirePort } from '../../api/http/port.ts';
import { type Embedded, startEmbedded } from '../../db/postgres/embedded.ts';
import { migrate } from '../../db/postgres/migrate.ts';
import { openDb } from '../../db/postgres/orm.ts';
import { configuredModels } from '../../engine/configured.ts';
import { readMachine } from '../../engine/runtime/machine.ts';
import { builtFrom } from '../../models/choosing/catalogue.ts';
import { advice } from '../../models/choosing/choose.ts';
import { listModels } from '../../models/store.ts';
import { type Part, supervise } from './children.ts';
import { firstKey, instructions } from './first.ts';
import { claimHome } from './home.ts';
import { buildConsole, type Changed, watchSources } from './watch.ts';

const LISTENING = /^listening on (http\S+)$/;
const GRACE_MS = 45_000; // longer than the API waits for uploads in progress

interface ServeOptions {
  json: boolean;
  /** Restart parts whose sources changed. */
  watch: boolean;
}

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** Runs database, API, engine and courier until it is told to stop, and ends them in the opposite order. Throws when one of them cannot start. */
export async function serve(settings: Settings, { json, watch }: ServeOptions): Promise<void> {
  const stop = stopSignal();
  await configuredModels(settings);
  const home = await claimHome(settings.LONGHAND_HOME);
  let server: Embedded | undefined;
  let unwatch = () => {};
  const parts: Part[] = [];
  try {
    await requirePort(settings.HOST, settings.PORT); // before starting a database in vain
    if (!settings.DATABASE_URL) {
      say('Starting the embedded PostgreSQL …');
      server = await startEmbedded(path.join(settings.LONGHAND_HOME, 'postgres'));
      const { url, process } = server;
      home.announce({ database: url });
      home.lost.catch(() => process.kill('SIGQUIT')); // without writing to the data, which another one has
    }
    const url = server?.url ?? settings.DATABASE_URL!;
    await prepareSchema(url);
    let port = String(settings.PORT);
    const common = { log: say, watched: watch };
    say('Starting API, engine and courier …');
    const api = supervise({ ...common, name: 'api', ready: LISTENING, environment: () => ({ DATABASE_URL: url, PORT: port }) });
    const engine = supervise({ ...common, name: 'engine', ready: /^working/, environment: () => ({ DATABASE_URL: url }) });
    const courier = supervise({ ...common, name: 'courier', ready: /^delivering/, environment: () => ({ DATABASE_URL: url }) });
    parts.push(api, engine, courier);
    if (watch) unwatch = watchSources((changed) => void restart(changed, { api, engine, courier }));
    const base = LISTENING.exec(await Promise.race([api.ready, stop.then(() => '')]))?.[1];
    if (base) {
      port = new URL(base).port; // kept over restarts, even if it was picked automatically
      home.announce({ url: base });
      await tell(settings, url, base, json);
      await advise(settings.LONGHAND_HOME);
      await Promise.race([
        stop,
        ...(server ? [home.lost, ended(server)] : []),
        engine.ready.then(() => stop),
        courier.ready.then(() => stop),
      ]);
    }
  } finally {
    unwatch();
    for (const part of parts) await part.stop(GRACE_MS);
    await server?.stop();
    home.release();
  }
}

async function restart(changed: ReadonlySet<Changed>, parts: { api: Part; engine: Part; courier: Part }): Promise<void> {
  say(`Changed: ${[...changed].join(', ')}`);
  const fault = changed.has('console') ? await buildConsole() : null;
  if (fault) say(`The console could not be built:\n${fault}`);
  if (changed.has('api') || (changed.has('console') && !fault)) parts.api.restart();
  if (changed.has('engine')) {
    parts.engine.restart();
    parts.courier.restart();
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

/** Prints where the service listens; at the very first start also the new workspace's key, which is never shown again. */
async function tell(settings: Settings, database: string, base: string, json: boolean): Promise<void> {
  const first = await firstKey(settings, database);
  if (json) process.stdout.write(`${JSON.stringify({ url: base, ...first })}\n`);
  else process.stdout.write(`${first ? instructions(base, first) : ''}listening on ${base}\n`);
}

/** Recommends a better model for this machine, if there is one. */
async function advise(home: string): Promise<void> {
  const installed = (await listModels(home)).flatMap((model) => builtFrom(model)?.name ?? []);
  const line = advice(readMachine(), installed);
  if (line) say(line);
}

async function ended(server: Embedded): Promise<never> {
  if (server.process.exitCode === null && server.process.signalCode === null)
    await new Promise((resolve) => server.process.once('exit', resolve));
  throw new Error(
    'The embedded PostgreSQL stopped; see postgres/postgres.log in the state folder. Start again: accepted uploads are not lost.',
  );
}

/** Resolves with the first SIGINT, SIGTERM or SIGHUP (terminal closed); the second ends the program at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let count = 0;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => {
        if (count++) process.exit(1);
        say('Stopping …');
        resolve();
      });
  });
}
