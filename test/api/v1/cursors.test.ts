import t from 'tap';
import { openDb } from '../../../db/postgres/orm.ts';
import { testApi } from '../../support/api/client.ts';
import { eventually } from '../../support/processes/service.ts';

const OPEN = 13; // transactions, one more than a cursor can name

const api = await testApi(t);
const { world, db } = api;
const owner = await world.member(await world.workspace(), { role: 'owner' });
const { key } = await world.key(owner);
const list = async (query: string) => {
  const { json } = await api.call(key, 'GET', `/v1/transcriptions?${query}`);
  return { ids: json.items.map((item: { id: string }) => item.id).sort() as string[], cursor: json.next_cursor as string };
};
const many = await openDb({ url: api.database, pool: OPEN, name: 'longhand-test' });
t.teardown(() => many.close());
const TOUCH = 'update transcriptions set updated_at = clock_timestamp() where id = ?';

/** Changes a transcription in a transaction that stays open. Returns what commits it. */
function changing(id: string): Promise<() => Promise<void>> {
  let end = () => {};
  const ending = new Promise<void>((resolve) => {
    end = resolve;
  });
  return new Promise((begun, failed) => {
    const change = many.acrossTenants(async (tx) => {
      await tx.rows(TOUCH, [id]);
      begun(() => {
        end();
        return change;
      });
      await ending;
    });
    change.catch(failed);
  });
}

t.test('a cursor beside more open transactions than it can name waits, stays short, and misses nothing', async (t) => {
  const [first, ...others] = await Promise.all(Array.from({ length: OPEN + 1 }, () => world.transcription(owner)));
  const start = await list(`updated_since=${new Date(Date.now() + 1).toISOString()}`);
  const commits = new Map<string, () => Promise<void>>();
  for (const id of others) commits.set(id, await changing(id));
  await db.query('*', TOUCH, [first!]);
  const during = await list(`cursor=${start.cursor}`);
  t.ok(during.ids.includes(first!));
  t.ok(during.cursor.length <= 200, `${during.cursor.length} characters`);
  t.equal(during.cursor, start.cursor, 'the next page begins where this one did');
  const [last] = others.splice(-1);
  await commits.get(last!)!();
  await eventually(async () => (await list(`cursor=${start.cursor}`)).cursor !== start.cursor, 'transactions of other tests to end');
  const after = await list(`cursor=${start.cursor}`);
  t.ok(after.ids.includes(last!) && after.ids.includes(first!));
  for (const id of others) await commits.get(id)!();
  t.strictSame((await list(`cursor=${after.cursor}`)).ids, others.sort());
});
