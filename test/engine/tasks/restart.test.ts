/* PostgreSQL is killed in the midst of work and comes back; the engine's address of it stays the same, as behind a service name. */
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type Embedded, startEmbedded } from '../../../db/embedded.ts';
import { migrate } from '../../../db/migrate.ts';
import { openDb } from '../../../db/orm.ts';
import { conversation, engineBench, type TranscriptionRow } from '../../support/engine.ts';

const folder = join(t.testdir(), 'postgres');
let server: Embedded = await startEmbedded(folder);
const door = await openDoor(() => Number(new URL(server.url).port));
const url = new URL(server.url);
url.port = String(door.port);
const db = await openDb({ url: url.href, name: 'longhand-test' });
t.teardown(async () => {
  await db.close();
  door.close();
  await server.stop();
});
await migrate(db);

/** A port of its own that leads to wherever `target` says; while nobody listens there, connections are refused by being closed. */
async function openDoor(target: () => number): Promise<{ port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const listener = createServer((inside) => {
    const outside = connect(target(), '127.0.0.1');
    for (const [from, to] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy()).on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    port: (listener.address() as { port: number }).port,
    close() {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

t.test('a transcription outlives PostgreSQL being killed in its midst, and is charged once', async (t) => {
  const bench = await engineBench(t, { db, url: url.href });
  const workspace = await bench.workspace({ minutes: 100 });
  const engine = await bench.engine();
  const id = await bench.upload(workspace, await conversation(8));
  await bench.until<TranscriptionRow>(id, (row) => row.fraction > 0.2);
  const ended = new Promise((resolve) => server.process.once('exit', resolve));
  server.process.kill('SIGKILL');
  await ended;
  await sleep(3000); // an outage, not a blink
  server = await startEmbedded(folder);
  for (const end = Date.now() + 30_000; Date.now() < end; await sleep(200)) {
    const up = await bench.row('transcriptions', id).then(
      () => true,
      () => false,
    );
    if (up) break;
  }
  await bench.until<TranscriptionRow>(id, ({ status }) => status === 'completed', 240);
  t.equal((await db.read('*', 'select 1 from ledger where transcription_id = ?', [id])).length, 1);
  t.equal((await db.read('*', 'select 1 from reservations')).length, 0);
  for (const end = Date.now() + 60_000; (await bench.files()).length && Date.now() < end; ) await sleep(200);
  t.strictSame(await bench.files(), []);
  const second = await bench.upload(workspace, await conversation(1));
  await bench.until<TranscriptionRow>(second, ({ status }) => status === 'completed');
  t.equal(await engine.stop(), 0);
});
