import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Db } from '../../../db/postgres/orm.ts';
import { numbersOf } from '../../../db/search/bits.ts';
import { mergeDue } from '../../../db/search/blocks.ts';
import { indexWaiting, keepAll, keepTerms, searchWork } from '../../../db/search/keep.ts';
import { match } from '../../../db/search/match.ts';
import { openVault } from '../../../db/secrets/vault.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openWorld } from '../../support/databases/world.ts';

const { db } = await testDatabase(t);
const vault = await openVault(db, [randomBytes(32)]);
const world = openWorld(db, vault);
const member = await world.member(await world.workspace(), { role: 'owner' });
const { workspaceId } = member;
const [COMMON, OWN] = [7, 1_000]; // terms: of all transcripts, and the first of those of one each
const numbers = (term: number) => db.workspace(workspaceId, async (tx) => [...numbersOf((await match(tx, workspaceId, [[[term]]])).bits)]);

t.test('keepAll() numbers transcripts in their order, replaces their earlier terms, and blocks become due', async (t) => {
  const ids: string[] = [];
  for (let i = 0; i < 70; i++) ids.push(await world.transcription(member));
  await db.workspace(workspaceId, (tx) => keepTerms(tx, workspaceId, ids[69]!, { keyVersion: 1, terms: [COMMON, 5] }));
  t.notOk((await searchWork(db)).blocks, 'one transcript is no block');
  await db.workspace(workspaceId, (tx) =>
    keepAll(
      tx,
      workspaceId,
      1,
      ids.map((id, i) => ({ id, terms: [COMMON, OWN + i] })),
    ),
  );
  for (const when of ['one by one', 'in blocks']) {
    t.strictSame((await numbers(COMMON)).length, ids.length, when);
    t.strictSame(await numbers(5), [], `earlier terms, ${when}`);
    t.strictSame([await numbers(OWN), await numbers(OWN + 69)], [[2], [71]], when);
    t.equal((await searchWork(db)).blocks, when === 'one by one', 'a multiple of 64 was passed');
    while (await mergeDue(db));
  }
});

for (const [what, change] of [
  ['corrected', `update segments set turns_sealed = turns_sealed where transcription_id = ?`],
  ['deleted', 'delete from transcriptions where id = ?'],
] as const)
  t.test(`indexWaiting() does not get in the way of a transcript that is being ${what}`, async (t) => {
    const id = await world.transcription(member);
    const waits = async () => {
      const rows = await db.query('*', 'select due_at <= now() as due from search_waiting where transcription_id = ?', [id]);
      return rows.map(({ due }) => due);
    };
    const failed: unknown[] = [];
    let indexing: Promise<unknown> | undefined;
    await db.workspace(workspaceId, async (tx) => {
      await tx.rows('select 1 from transcriptions where id = ? for update', [id]);
      indexing = indexWaiting(db, vault, workspaceId, 100, (_, error) => failed.push(error));
      await Promise.race([indexing, sleep(10_000, null, { ref: false })]); // it ends at once, unless it waits for the lock
      await tx.rows(change, [id]);
    });
    await indexing;
    t.strictSame(failed, []);
    t.strictSame(await waits(), what === 'deleted' ? [] : [true], 'due again after the change');
    await indexWaiting(db, vault, workspaceId, 100);
    t.strictSame(await waits(), []);
  });

t.test('indexWaiting() reads a transcript again that changed while it was indexed', async (t) => {
  const id = await world.transcription(member);
  await indexWaiting(db, vault, workspaceId, 100);
  const change = () => db.query('*', 'update segments set turns_sealed = turns_sealed where transcription_id = ?', [id]);
  await change();
  let transactions = 0;
  const changing: Db = {
    ...db,
    async workspace(owner, work) {
      if (++transactions === 2) await change(); // it has been read, but not stored
      return db.workspace(owner, work);
    },
  };
  t.equal(await indexWaiting(changing, vault, workspaceId, 100), 1);
  t.match(await db.query('*', 'select due_at <= now() as due from search_waiting where transcription_id = ?', [id]), [{ due: true }]);
  t.equal(await indexWaiting(db, vault, workspaceId, 100), 1);
  t.strictSame(await db.query('*', 'select 1 from search_waiting where transcription_id = ?', [id]), []);
});
