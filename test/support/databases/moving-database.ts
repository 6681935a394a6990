import type { Test } from 'tap';
import { type Embedded, startEmbedded } from '../../../db/postgres/embedded.ts';
import { type Db, openDb } from '../../../db/postgres/orm.ts';
import { openDoor } from '../servers/door.ts';
import { migratedCluster } from './cluster.ts';

/** A migrated database whose address stays the same when another server takes the place of `server`, as behind a service name. */
export interface MovingDatabase {
  db: Db;
  url: string;
  server: Embedded;
}

/** Starts the first server in `folder`; the test's end stops the last one. */
export async function movingDatabase(t: Test, folder: string): Promise<MovingDatabase> {
  await migratedCluster(folder);
  const moving = { server: await startEmbedded(folder) };
  const door = await openDoor(() => Number(new URL(moving.server.url).port));
  const url = new URL(moving.server.url);
  url.port = String(door.port);
  const db = await openDb({ url: url.href, name: 'longhand-test' });
  t.teardown(async () => {
    await db.close();
    door.close();
    await moving.server.stop();
  });
  return Object.assign(moving, { db, url: url.href });
}
