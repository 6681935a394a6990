import type { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../../../api/app.ts';
import { readSettings, type Settings } from '../../../api/contract/settings.ts';
import { openLog } from '../../../db/ops/log.ts';
import type { Db } from '../../../db/postgres/orm.ts';
import { openVault, type Vault } from '../../../db/secrets/vault.ts';
import { openSpool } from '../../../db/spool/open.ts';
import type { Spool } from '../../../db/spool/spool.ts';
import { testDatabase } from '../databases/database.ts';
import { openWorld, type World } from '../databases/world.ts';
import { checkDocumented } from './documented.ts';

export interface Response {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  bytes: Buffer;
  text: string;
  /** The body as JSON; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests access it freely
  json: any;
}

export interface TestApi {
  url: string;
  /** URL of the metrics. */
  metrics(): Promise<string>;
  /** URL of the database. */
  database: string;
  db: Db;
  vault: Vault;
  spool: Spool;
  settings: Settings;
  world: World;
  /** One request under a key ('' for none). An object as body is sent as JSON. Rejects if the response differs from the OpenAPI document. */
  call(key: string, method: string, path: string, options?: { body?: unknown; headers?: Record<string, string> }): Promise<Response>;
}

/** The API of one test file: every route on a free port, with its own database and spool, without rate limits unless set. */
export async function testApi(t: { teardown(after: () => unknown): void }, environment: Record<string, string> = {}): Promise<TestApi> {
  const home = mkdtempSync(join(tmpdir(), 'longhand-api-'));
  const settings = readSettings({
    LONGHAND_HOME: home,
    PORT: '0',
    LONGHAND_RATE_LIMIT: '0',
    LOG_LEVEL: 'silent',
    LONGHAND_METRICS: '127.0.0.1:0',
    ...environment,
  });
  const { db, url: database } = await testDatabase(t);
  const vault = await openVault(db, [randomBytes(32)]);
  const spool = await openSpool(settings);
  const server = await startApp({ db: asProduct(db), vault, spool, settings, log: openLog(settings, 'api') });
  t.teardown(async () => {
    await server.stop(1);
    rmSync(home, { recursive: true, force: true });
  });
  const { url } = server;
  const call: TestApi['call'] = async (key, method, path, { body, headers = {} } = {}) => {
    const raw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
    const sent = body === undefined ? undefined : raw ? Buffer.from(body as string) : Buffer.from(JSON.stringify(body));
    const request = http.request(url, {
      agent: false,
      method,
      path,
      headers: {
        ...(key && { authorization: `Bearer ${key}` }),
        ...(sent && { 'content-type': 'application/json', 'content-length': String(sent.length) }),
        ...headers,
      },
    });
    request.end(sent);
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    const bytes = Buffer.concat(await answer.toArray());
    const text = bytes.toString();
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {}
    const headersSent = answer.headers as Record<string, string>;
    checkDocumented(method, path, { status: answer.statusCode!, headers: new Map(Object.entries(headersSent)), json });
    return { status: answer.statusCode!, headers: headersSent, bytes, text, json };
  };
  const metrics = async () => (await fetch(server.metricsUrl!)).text();
  return { url, metrics, database, db, vault, spool, settings, world: openWorld(db, vault), call };
}

/** Calls of the database in the context whose statements recorder.mjs records, if it is loaded. */
function asProduct(db: Db): Db {
  const context = (globalThis as { [of: symbol]: unknown })[Symbol.for('longhand.product')] as AsyncLocalStorage<boolean> | undefined;
  if (!context) return db;
  const call = (method: 'workspace' | 'acrossTenants' | 'reserved' | 'query') =>
    ((...parameters: unknown[]) => context.run(true, () => (db[method] as (...all: unknown[]) => unknown)(...parameters))) as never;
  return { ...db, workspace: call('workspace'), acrossTenants: call('acrossTenants'), reserved: call('reserved'), query: call('query') };
}
