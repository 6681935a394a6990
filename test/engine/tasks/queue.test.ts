import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { enqueue } from '../../../db/jobs/queue.ts';
import { openLog } from '../../../db/ops/log.ts';
import { listen, pollMs, reacts } from '../../../engine/tasks/queue.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { eventually } from '../../support/processes/service.ts';

t.test('pollMs() keeps the polls of a fleet rare, and those of a few processes at 5 s', async (t) => {
  t.strictSame([1, 4, 8, 24, 200, 1000].map(pollMs), [5_000, 5_000, 10_000, 30_000, 250_000, 300_000]);
});

t.test('reacts() lets every process of a small fleet query the queue after a notification, and eight of a large one', async (t) => {
  const reacting = (similar: number) => Array.from({ length: 1000 }, (_, i) => i / 1000).filter((chance) => reacts(similar, chance)).length;
  t.strictSame([0, 1, 8, 16, 200].map(reacting), [1000, 1000, 1000, 500, 40]);
});

t.test('listen() runs jobs added while it has no connection for notifications, long before its next poll', async (t) => {
  const { db, url } = await testDatabase(t);
  let ran = 0;
  let connected = 0;
  const queue = listen(
    {
      ...{ connectionString: url, tasks: { probe: async () => void ran++ }, full: () => [], fleet: () => ({ living: 1000, idle: 1 }) },
      log: openLog({ LOG_LEVEL: 'silent', LOG_FORMAT: undefined }, 'test'),
    },
    async () => void connected++,
  );
  const cut = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> 'longhand-test'`;
  const add = () => db.acrossTenants((tx) => enqueue(tx, 'probe', { id: randomUUID() }));
  await eventually(() => connected > 0, 'the first connection');
  await add();
  await eventually(() => ran === 1, 'the first job', 60);
  for (let lost = 1; lost <= 3; lost++) {
    await db.direct(cut);
    await add();
    await eventually(() => ran === 1 + lost, 'a job added meanwhile', 60);
  }
  await queue.stop();
});

t.test('listen() polls more rarely after the fleet has grown, and then leaves notifications to other processes', async (t) => {
  const { db, url } = await testDatabase(t);
  let size = { living: 100, idle: 1 };
  let ran = 0;
  const connected: string[][] = [];
  const queue = listen(
    {
      connectionString: url,
      tasks: { probe: async () => void ran++ },
      full: () => [],
      fleet: () => size,
      log: openLog({ LOG_LEVEL: 'silent', LOG_FORMAT: undefined }, 'test'),
    },
    async (ids) => void connected.push(ids),
  );
  let added = 0;
  const add = async () => {
    added++;
    await db.acrossTenants((tx) => enqueue(tx, 'probe', { id: randomUUID() }));
  };
  const SECONDS = 100; // less than the interval of its polls
  await eventually(() => connected.length === 1, 'the first connection');
  await eventually(async () => ran > 0 || add(), 'a job', SECONDS); // again, if it came before the process listened
  await eventually(() => ran === added, 'all jobs', SECONDS);
  size = { living: 1000, idle: 1_000_000_000 };
  await eventually(() => connected.length === 2, 'polls at another interval', SECONDS);
  t.not(connected[0]![0], connected[1]![0]);
  let left = false;
  for (const pause of [1_000, 5_000, 25_000]) {
    await sleep(pause); // until it has looked for work for the first time
    const before = ran;
    await add();
    await sleep(pause);
    left = ran === before;
    if (left) break;
  }
  t.ok(left, 'one of the others takes it');
  size = { living: 1000, idle: 1 };
  await add();
  await eventually(() => ran === added, 'both jobs', SECONDS);
  await queue.stop();
  const others = `select 1 from pg_stat_activity where datname = current_database() and application_name <> 'longhand-test'`;
  await eventually(async () => !(await db.direct(others)).length, 'the end of its connections');
});
