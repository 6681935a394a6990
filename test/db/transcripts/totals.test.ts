import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import type { Actor } from '../../../api/contract/actor.ts';
import { openVault } from '../../../db/secrets/vault.ts';
import type { ListQuery } from '../../../db/transcripts/filter.ts';
import { listItems } from '../../../db/transcripts/list.ts';
import { hold, reassignAuthor, remove } from '../../../db/transcripts/mutate.ts';
import { type Counted, openTotals, sumUpChanges } from '../../../db/transcripts/totals.ts';
import { tokenOf } from '../../support/api/actors.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openWorld, type Person } from '../../support/databases/world.ts';
import { runs } from '../../support/property.ts';

const { db } = await testDatabase(t);
const vault = await openVault(db, [randomBytes(32)]);
const world = openWorld(db, vault);
const workspace = await world.workspace();
const [olga, anna] = [await world.member(workspace, { role: 'owner' }), await world.member(workspace)];
const project = await world.project(workspace, 'Team');
const viewers = [olga, anna].map((person, i) => tokenOf(person, i ? 'user' : 'owner'));
const LONG_AGO = '2026-03-01T10:00:00Z';
const ALL: ListQuery = { status: 'completed', metadata: [], sort: '-created_at', limit: 5, offset: 0 };
const QUERIES: ListQuery[] = [
  ALL,
  { ...ALL, metadata: [{ key: 'a', value: '1' }] },
  { ...ALL, projectId: project },
  { ...ALL, language: 'en' },
  { ...ALL, status: 'failed', metadata: [{ key: 'a', value: '1' }] },
];
const remembered = openTotals();
const list = (viewer: Actor, query: ListQuery, totals = remembered) =>
  db.workspace(workspace, (tx) => listItems(tx, vault, totals, viewer, query));

/** Every change that can affect a total, applied to the nth transcription. */
const sql = (text: string, parameters: unknown[]) => db.acrossTenants((tx) => tx.rows(text, parameters));
const CHANGES: Record<string, (id: string, person: Person) => Promise<unknown>> = {
  upload: (_, person) => world.transcription(person, { metadata: '{"a":1}', language: 'en' }),
  'late entry': (_, person) => world.transcription(person, { metadata: '{"a":1}', projectId: project, createdAt: LONG_AGO }),
  failure: (id) => sql(`update transcriptions set status = 'failed' where id = ?`, [id]),
  completion: (id) => sql(`update transcriptions set status = 'completed' where id = ?`, [id]),
  language: (id) => sql(`update transcriptions set language = case language when 'en' then 'de' else 'en' end where id = ?`, [id]),
  author: (id, person) => db.workspace(workspace, async (tx) => reassignAuthor(tx, viewers[0]!, await hold(tx, viewers[0]!, id), person)),
  deletion: (id) => db.workspace(workspace, (tx) => remove(tx, viewers[0]!, id)),
  'joining the project': () =>
    sql(`insert into project_members values (?, ?, ?, 'viewer') on conflict do nothing`, [project, anna.id, workspace]),
  'leaving the project': () => sql('delete from project_members where member_id = ?', [anna.id]),
  'moving out of the project': (id) => sql('update transcriptions set project_id = null where id = ?', [id]),
  progress: (id) => sql(`update transcriptions set fraction = 0.5, stage = 'transcribing' where id = ?`, [id]),
  housekeeping: () => sumUpChanges(db),
};

t.test('listItems() with cached totals is exact after any change (property)', async (t) => {
  for (let i = 0; i < 6; i++) await CHANGES[i % 2 ? 'upload' : 'late entry']!('', i % 3 ? olga : anna);
  const step = fc.record({ change: fc.constantFrom(...Object.keys(CHANGES)), at: fc.nat(), who: fc.constantFrom(olga, anna) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 3 }), async (steps) => {
      for (const { change, at, who } of steps) {
        const ids = await db.acrossTenants((tx) => tx.rows<{ id: string }>('select id from transcriptions order by id'));
        if (!ids.length) await CHANGES.upload!('', who);
        else await CHANGES[change]!(ids[at % ids.length]!.id, who);
      }
      for (const viewer of viewers) {
        for (const query of QUERIES)
          t.strictSame(await list(viewer, query), await list(viewer, query, openTotals()), JSON.stringify(steps));
      }
    }),
    runs(30),
  );
});

t.test('listItems() counts past days once, and again only after a change', async (t) => {
  const totals = openTotals();
  let counts = 0;
  const watched = {
    ...totals,
    keep: (filter: string, counted: Counted) => {
      counts += 1;
      totals.keep(filter, counted);
    },
  };
  const old = await world.transcription(olga, { createdAt: LONG_AGO });
  const total = async () => (await list(viewers[0]!, ALL, watched)).total;
  const before = await total();
  await world.transcription(olga);
  await sumUpChanges(db);
  await CHANGES.progress!(old, olga);
  t.equal(await total(), before + 1, 'transcriptions of today are counted each time');
  t.equal(counts, 1);
  await CHANGES.deletion!(old, olga);
  t.equal(await total(), before);
  t.equal(counts, 2);
});

t.test(
  'sumUpChanges() leaves few rows in list_changes, even if several hosts run it concurrently; they are deleted with the workspace',
  async (t) => {
    const version = async () => (await db.query<{ n: string }>('*', 'select sum(changes) as n from list_changes'))[0]!.n;
    const before = await version();
    await Promise.all([1, 2, 3].map(() => sumUpChanges(db)));
    await sumUpChanges(db);
    t.equal(await version(), before, 'the versions are unchanged');
    const [{ n }] = (await db.query<{ n: string }>('*', 'select count(*) as n from list_changes')) as [{ n: string }];
    t.ok(Number(n) <= 3, n);
    await sql('delete from workspaces where id = ?', [workspace]);
    t.strictSame(await db.query('*', 'select * from list_changes'), []);
  },
);

t.test('openTotals() evicts the least recently used entry', async (t) => {
  const totals = openTotals(2);
  const counted = { day: '2026-01-01', version: '1', total: 1, ids: null };
  for (const filter of ['a', 'b']) totals.keep(filter, counted);
  totals.find('a');
  totals.keep('c', counted);
  t.strictSame(
    ['a', 'b', 'c'].map((filter) => totals.find(filter) !== undefined),
    [true, false, true],
  );
});
