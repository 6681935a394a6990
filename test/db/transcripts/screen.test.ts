import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { numbersOf } from '../../../db/search/bits.ts';
import { indexWaiting } from '../../../db/search/keep.ts';
import { match } from '../../../db/search/match.ts';
import { questionOf, searchKey } from '../../../db/search/terms.ts';
import { openVault } from '../../../db/secrets/vault.ts';
import type { ListQuery } from '../../../db/transcripts/filter.ts';
import { listItems } from '../../../db/transcripts/list.ts';
import { hold, remove } from '../../../db/transcripts/mutate.ts';
import { listScreened } from '../../../db/transcripts/screen.ts';
import { openTotals } from '../../../db/transcripts/totals.ts';
import { tokenOf } from '../../support/api/actors.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openWorld } from '../../support/databases/world.ts';
import { runs } from '../../support/property.ts';

const { db } = await testDatabase(t);
const vault = await openVault(db, [randomBytes(32)]);
const world = openWorld(db, vault);
const workspace = await world.workspace();
const [olga, anna] = [await world.member(workspace, { role: 'owner' }), await world.member(workspace)];
const project = await world.project(workspace, 'Team');
const viewers = [tokenOf(olga, 'owner'), tokenOf(anna, 'user')];
const LONG_AGO = '2026-03-01T10:00:00Z';
const ALL: ListQuery = { status: 'completed', metadata: [], sort: '-created_at', limit: 3, offset: 0 };
const QUERIES: ListQuery[] = [
  ALL,
  { ...ALL, limit: 2, offset: 1 },
  { ...ALL, offset: 2, sort: 'duration' },
  { ...ALL, metadata: [{ key: 'a', value: '1' }] },
  { ...ALL, projectId: project, sort: 'created_at' },
  { ...ALL, language: 'en', dateTo: '2026-03-02' },
];
const record = (text: string, createdAt?: string) =>
  world.transcription(anna, {
    turns: [{ start: 0, end: 2, speaker: null, text }],
    ...{ language: text.length % 2 ? 'en' : 'de', metadata: '{"a":1}', ...(createdAt && { createdAt }) },
  });
const sql = (text: string, parameters: unknown[]) => db.acrossTenants((tx) => tx.rows(text, parameters));

/** Every change that can affect a filtered search, applied to the nth transcription. */
const CHANGES: Record<string, (id: string) => Promise<unknown>> = {
  upload: () => record('a zebra crossing'),
  'late entry': () => record('the zebra', LONG_AGO),
  correction: async (id) => {
    const turns = JSON.stringify([{ id: 1, start: 0, end: 2, speaker: null, text: 'zebra once more' }]);
    const sealed = await vault.seal(workspace, `segments|${id}:0|turns`, turns);
    await sql('update segments set turns_sealed = ? where transcription_id = ?', [sealed, id]);
  },
  deletion: (id) => db.workspace(workspace, async (tx) => remove(tx, viewers[0]!, id)),
  language: (id) => sql(`update transcriptions set language = case language when 'en' then 'de' else 'en' end where id = ?`, [id]),
  'moving into the project': (id) => sql('update transcriptions set project_id = ? where id = ?', [project, id]),
  'another author': (id) =>
    db.workspace(workspace, async (tx) => {
      await hold(tx, viewers[0]!, id);
      await tx.rows('update transcriptions set author_id = ?, creator_id = ? where id = ?', [olga.id, olga.id, id]);
    }),
  'joining the project': () =>
    sql(`insert into project_members values (?, ?, ?, 'viewer') on conflict do nothing`, [project, anna.id, workspace]),
  'leaving the project': () => sql('delete from project_members where member_id = ?', [anna.id]),
};

t.test('listScreened() with remembered screens equals an uncached list after every kind of change (property)', async (t) => {
  const remembered = openTotals();
  for (let i = 0; i < 6; i++) await CHANGES[i % 2 ? 'upload' : 'late entry']!('');
  const step = fc.record({ change: fc.constantFrom(...Object.keys(CHANGES)), at: fc.nat() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 3 }), async (steps) => {
      for (const { change, at } of steps) {
        const ids = await db.acrossTenants((tx) => tx.rows<{ id: string }>('select id from transcriptions order by id'));
        if (!ids.length) await CHANGES.upload!('');
        else await CHANGES[change]!(ids[at % ids.length]!.id);
      }
      while (await indexWaiting(db, vault, workspace, 100));
      for (const viewer of viewers)
        for (const query of QUERIES)
          await db.workspace(workspace, async (tx) => {
            const found = await match(tx, workspace, questionOf(await searchKey(vault, workspace), 'zebra')!);
            const expected = await listItems(tx, vault, openTotals(), viewer, {
              ...query,
              found: { ...found, numbers: [...numbersOf(found.bits)] },
            });
            t.strictSame(await listScreened(tx, vault, remembered, viewer, query, found), expected, JSON.stringify([steps, query]));
            const { items, total } = await listItems(tx, vault, openTotals(), viewer, { ...query, found: { ...found, numbers: null } });
            t.strictSame({ items, total }, expected, 'by bitmap');
          });
    }),
    runs(15),
  );
});

t.test('listItems() ignores a number that is newer than the bitmap', async (t) => {
  const question = questionOf(await searchKey(vault, workspace), 'zebra')!;
  const found = await db.workspace(workspace, (tx) => match(tx, workspace, question));
  for (let i = 0; i < 20; i++) await record('the zebra');
  while (await indexWaiting(db, vault, workspace, 100));
  const list = (bits: Uint8Array) =>
    db.workspace(workspace, (tx) =>
      listItems(tx, vault, openTotals(), viewers[0]!, { ...ALL, found: { bits, numbers: null, digest: '' } }),
    );
  t.equal((await list(found.bits)).total, found.count);
});
