import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { migrate } from '../../../db/postgres/migrate.ts';
import type { Db } from '../../../db/postgres/orm.ts';
import { mergeDue } from '../../../db/search/blocks.ts';
import { keepAll } from '../../../db/search/keep.ts';
import { match } from '../../../db/search/match.ts';
import { openVault } from '../../../db/secrets/vault.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openWorld } from '../../support/databases/world.ts';
import { runs } from '../../support/property.ts';

const { db } = await testDatabase(t);
const world = openWorld(db, await openVault(db, [randomBytes(32)]));
const member = await world.member(await world.workspace(), { role: 'owner' });
const { workspaceId } = member;
const SIZES = { block: 2, fan: 3 }; // a backlog of 6 becomes a block of the second level; a block of the third has 18
const TERMS = [0, 7, 2 ** 39, 2 ** 40 - 1];
const ids: string[] = [];
for (let i = 0; i < 60; i++) ids.push(await world.transcription(member));

/** The terms of indexed transcripts: what the index must find. */
type Indexed = Map<string, readonly number[]>;

async function store(indexed: Indexed, chosen: readonly string[], termsOf: (k: number) => readonly number[]): Promise<void> {
  const rows = chosen.map((id, k) => ({ id, terms: termsOf(k) }));
  await db.workspace(workspaceId, (tx) => keepAll(tx, workspaceId, 1, rows));
  for (const { id, terms } of rows) indexed.set(id, terms);
}

/** Removes transcripts from the index, as deleting them does. */
async function remove(indexed: Indexed, chosen: readonly string[]): Promise<void> {
  await db.query(workspaceId, 'delete from search_documents where transcription_id = any (?::uuid[])', [chosen]);
  for (const id of chosen) indexed.delete(id);
}

async function merge(): Promise<void> {
  await db.query(workspaceId, 'update search_states set due = true');
  while (await mergeDue(db, undefined, SIZES));
}

async function blocks(): Promise<string[]> {
  const rows = await db.query(workspaceId, 'select level, first, last from search_blocks order by first');
  return rows.map(({ level, first, last }) => `${level}: ${first}-${last}`);
}

/** Terms for which the search and a plain list differ, in transcripts or in their number. */
async function differences(indexed: Indexed): Promise<string[]> {
  const wrong: string[] = [];
  for (const term of TERMS) {
    const wanted = [...indexed].filter(([, terms]) => terms.includes(term)).map(([id]) => id);
    const { count, bits } = await db.workspace(workspaceId, (tx) => match(tx, workspaceId, [[[term]]]));
    const found = await db.query<{ id: string }>(
      workspaceId,
      `select transcription_id as id from search_documents where number < ? and get_bit(?::bytea, number) = 1`,
      [bits.length * 8, Buffer.from(bits)],
    );
    if (count !== wanted.length) wrong.push(`term ${term}: ${count} instead of ${wanted.length}`);
    if (`${found.map(({ id }) => id).toSorted()}` !== `${wanted.toSorted()}`) wrong.push(`term ${term}: other transcripts`);
  }
  return wrong;
}

async function reset(): Promise<void> {
  for (const table of ['documents', 'fresh', 'blocks', 'gone', 'states', 'waiting'])
    await db.query(workspaceId, `delete from search_${table}`);
}

t.test('mergeDue() finds everything after a backlog that arrived behind blocks of the first level', async (t) => {
  await reset();
  const indexed: Indexed = new Map();
  const rare = (k: number) => (k % 5 === 1 ? [TERMS[0]!, TERMS[2]!] : [TERMS[1]!]);
  await store(indexed, ids.slice(0, 4), rare);
  await merge();
  await store(indexed, ids.slice(4, 10), rare);
  await merge();
  await remove(indexed, ids.slice(5, 6));
  for (let from = 10; from < 60; from += 2) {
    await store(indexed, ids.slice(from, from + 2), () => rare(from));
    await merge();
    t.strictSame(await differences(indexed), [], `${from + 2} transcripts in ${await blocks()}`);
  }
  await db.query(workspaceId, `update search_gone set gone_at = now() - interval '2 days'`);
  await merge();
  t.strictSame(await differences(indexed), []);
  t.strictSame(await db.query(workspaceId, 'select number from search_gone'), []);
});

const some = fc.tuple(fc.nat(ids.length - 1), fc.integer({ min: 1, max: 8 }), fc.array(fc.subarray(TERMS), { minLength: 1, maxLength: 3 }));
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.tuple(fc.constantFrom('store', 'store and merge'), some) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom('remove', 'merge', 'a day passes'), some) },
  ),
  { minLength: 5, maxLength: 40, size: 'max' },
);

t.test('mergeDue() finds what a plain list finds, whatever arrives, is corrected, deleted and merged', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      await reset();
      const indexed: Indexed = new Map();
      for (const [what, [from, size, terms]] of taken) {
        const chosen = ids.slice(from, from + size);
        if (what.startsWith('store')) await store(indexed, chosen, (k) => terms[k % terms.length]!);
        if (what === 'remove') await remove(indexed, chosen);
        if (what === 'a day passes') await db.query(workspaceId, `update search_gone set gone_at = now() - interval '2 days'`);
        if (/merge|day/.test(what)) await merge();
      }
      const wrong = await differences(indexed);
      if (wrong.length) throw new Error(`${wrong}, in ${await blocks()}`);
      const ranges = (await blocks()).map((one) => one.split(/[ -]/).slice(1).map(Number));
      if (ranges.some(([first], k) => k > 0 && first! <= ranges[k - 1]![1]!)) throw new Error(`Overlap: ${await blocks()}`);
    }),
    runs(12),
  );
});

/** The database for an engine during whose `call`th transaction in a workspace something happens. */
function interrupted(call: number, happens: () => Promise<unknown>): Db {
  let calls = 0;
  return {
    ...db,
    async workspace(id, work) {
      if (++calls === call) await happens();
      return db.workspace(id, work);
    },
  };
}

const killed = () => Promise.reject(new Error('killed'));

t.test('mergeDue() continues what an engine began that was killed, when its lease has expired', async (t) => {
  for (let call = 1, done = false; !done; call++) {
    await reset();
    await store(new Map(), ids.slice(0, 7), () => [1]);
    await db.query(workspaceId, 'update search_states set due = true');
    done = await mergeDue(interrupted(call, killed), undefined, SIZES).catch(() => false);
    if (done) break;
    t.equal(await mergeDue(db, undefined, SIZES), false, `killed in transaction ${call}: it holds the workspace`);
    await db.query(workspaceId, 'update search_states set merged_until = now()');
    t.equal(await mergeDue(db, undefined, SIZES), true, `killed in transaction ${call}: another one continues`);
    t.strictSame(await blocks(), ['2: 1-6']);
    t.equal(await mergeDue(db, undefined, SIZES), false);
  }
});

t.test('mergeDue() loses nothing if the engine is suspended for longer than its lease, in any transaction', async (t) => {
  const rare = (k: number) => [TERMS[k % TERMS.length]!];
  const others = [() => interrupted(3, killed), () => db]; // the first removes the block of the suspended engine and gets no further
  for (const other of others)
    for (let call = 1, suspended = true; suspended; call++) {
      await reset();
      const indexed: Indexed = new Map();
      for (let from = 0; from < 6; from += 2) {
        await store(indexed, ids.slice(from, from + 2), (k) => rare(from + k));
        if (from < 4) await merge();
      }
      suspended = false;
      const overtaken = async () => {
        suspended = true;
        await db.query(workspaceId, `update search_states set due = true, merged_until = 'epoch'`);
        await mergeDue(other(), undefined, SIZES).catch(() => {});
      };
      await db.query(workspaceId, `update search_states set due = true, merged_until = 'epoch'`);
      await mergeDue(interrupted(call, overtaken), undefined, SIZES).catch(() => {});
      t.strictSame(await differences(indexed), [], `before transaction ${call}`);
      await db.query(workspaceId, `update search_states set merged_until = 'epoch'`);
      await merge();
      t.strictSame(await differences(indexed), [], `before transaction ${call}, and merged later`);
    }
});

t.test('mergeDue() leaves a workspace due when its engine stops', async (t) => {
  await reset();
  await store(new Map(), ids.slice(0, 7), () => [1]);
  await db.query(workspaceId, 'update search_states set due = true');
  t.equal(await mergeDue(db, AbortSignal.abort(), SIZES), true);
  t.strictSame(await blocks(), []);
  t.equal(await mergeDue(db, undefined, SIZES), true);
  t.strictSame(await blocks(), ['2: 1-6']);
});

t.test('mergeDue() leaves no transcripts unpacked that arrive while it runs', async (t) => {
  for (let call = 1, arrived = true; arrived; call++) {
    await reset();
    await store(new Map(), ids.slice(0, 1), () => [1]);
    await db.query(workspaceId, 'update search_states set due = true, last_number = 62');
    arrived = false;
    const arrive = async () => {
      arrived = true;
      await store(new Map(), ids.slice(1, 3), () => [1]); // the numbers 63 and 64, with which the workspace becomes due
    };
    const engine = interrupted(call, arrive);
    while (await mergeDue(engine, undefined, SIZES));
    if (arrived) t.equal((await blocks()).length, 1, `during transaction ${call}`);
  }
});

/** Adds an empty block, as an earlier version could leave it. */
const addBlock = (level: number, first: number, last: number) =>
  db.query(workspaceId, 'insert into search_blocks (workspace_id, level, first, last, ready) values (?::uuid, ?, ?, ?, true)', [
    ...[workspaceId, level, first, last],
  ]);

const counts = async () => {
  const [row] = await db.query(
    workspaceId,
    `select (select count(*)::int from search_waiting) as waiting, (select count(*)::int from search_documents) as documents,
       (select count(*)::int from search_blocks) as blocks, (select count(*)::int from search_gone) as gone`,
  );
  return row!;
};

t.test('mergeDue() indexes a workspace again whose blocks overlap', async (t) => {
  await reset();
  const indexed: Indexed = new Map();
  await store(indexed, ids.slice(0, 7), () => [1]);
  await merge();
  await addBlock(2, 4, 5);
  await merge();
  t.strictSame(await counts(), { waiting: 7, documents: 0, blocks: 0, gone: 0 });
});

t.test('migration 098 indexes workspaces again whose blocks overlap or hide it, and no others', async (t) => {
  for (const [name, added, again] of [
    ['adjoining blocks', [1, 7, 8], false],
    ['an overlap', [2, 4, 8], true],
    ['a block of the highest level', [3, 7, 20], true],
  ] as const) {
    await reset();
    await store(new Map(), ids.slice(0, 7), () => [1]);
    await merge();
    const before = await counts();
    await addBlock(added[0], added[1], added[2]);
    await db.direct(`delete from longhand_migrations where name = '098_search_blocks'`);
    await migrate(db);
    t.strictSame(await counts(), again ? { waiting: 7, documents: 0, blocks: 0, gone: 0 } : { ...before, blocks: 2 }, name);
  }
});

async function migrateAgain(): Promise<void> {
  await db.direct(`delete from longhand_migrations where name = '098_search_blocks'`);
  await migrate(db);
}

for (const [who, indexAgain] of [
  ['mergeDue()', merge],
  ['migration 098', migrateAgain],
] as const)
  t.test(`${who} waits for transcripts that are being corrected or deleted before it indexes them again`, async (t) => {
    for (const [what, change] of [
      ['corrected', 'update segments set turns_sealed = turns_sealed where transcription_id = ?'],
      ['deleted', 'delete from transcriptions where id = ?'],
    ] as const) {
      await reset();
      const id = await world.transcription(member);
      await store(new Map(), [...ids.slice(0, 6), id], () => [1]);
      await merge();
      await addBlock(2, 4, 5);
      let indexing: Promise<void> | undefined;
      await db.workspace(workspaceId, async (tx) => {
        await tx.rows('select 1 from transcriptions where id = ? for update', [id]);
        indexing = indexAgain();
        indexing.catch(() => {}); // awaited below
        await sleep(300);
        await tx.rows(change, [id]);
      });
      await indexing;
      t.match(await counts(), { waiting: what === 'deleted' ? 6 : 7, documents: 0, blocks: 0 }, what);
    }
  });
