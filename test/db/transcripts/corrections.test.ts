import { randomBytes } from 'node:crypto';
import t from 'tap';
import { openVault, type Vault } from '../../../db/secrets/vault.ts';
import type { Wish } from '../../../db/transcripts/correct.ts';
import { correct, listChanges } from '../../../db/transcripts/corrections.ts';
import { tokenOf } from '../../support/api/actors.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openWorld } from '../../support/databases/world.ts';

const { db } = await testDatabase(t);
const vault = await openVault(db, [randomBytes(32)]);
const world = openWorld(db, vault);
const workspace = await world.workspace();
const ann = await world.member(workspace, { role: 'owner' });
const actor = tokenOf(ann);
const TURNS = [1, 2, 1].map((speaker, n) => ({ start: n * 3, end: n * 3 + 2, speaker: `speaker_${speaker}`, text: `Turn ${n + 1}.` }));
const SPEAKERS = [1, 2].map((n) => ({ id: `speaker_${n}`, ai_name: null, name: null }));
const make = () => world.transcription(ann, { title: 'A call', turns: TURNS, speakers: SPEAKERS });

/** A vault that counts the changes that it decrypts. */
let opened = 0;
const counting: Vault = {
  ...vault,
  open(workspaceId, place, sealed) {
    if (place.startsWith('corrections|')) opened++;
    return vault.open(workspaceId, place, sealed);
  },
};

/** Corrects a transcript. Returns the number of changes that this decrypted. */
async function reads(id: string, version: number, wishes: Wish[], undo?: number): Promise<number> {
  opened = 0;
  await db.workspace(workspace, (tx) => correct(tx, counting, actor, id, { version, wishes, undo }));
  return opened;
}

const title = (title: string): Wish => ({ kind: 'title', title });
const text = (segment: number, text: string): Wish => ({ kind: 'text', segment, text });
const list = (id: string) => db.workspace(workspace, (tx) => listChanges(tx, counting, actor, id));

/** Changes the title that often, each time having seen the change before. */
async function retitle(id: string, times: number): Promise<void> {
  for (let version = 0; version < times; version++) await reads(id, version, [title(`Title ${version + 1}`)]);
}

t.test('correct() decrypts only changes that the caller has not seen', async (t) => {
  const id = await make();
  await retitle(id, 12);
  t.equal(await reads(id, 12, [title('Title 13')]), 0, 'all were seen');
  t.equal(await reads(id, 10, [text(1, 'One.')]), 3);
  t.equal(await reads(id, 99, [title('Title 15')]), 0, 'a version in the future');
  t.equal(await reads(id, Number.POSITIVE_INFINITY, [title('Title 16')]), 0, 'one that no integer of the database can hold');
  await t.rejects(reads(id, 13, [title('Mine')]), { code: 'conflict', detail: { change: { version: 16, after: 'Title 16' } } });
  t.equal(opened, 3);
  t.match(await list(id), { version: 16, items: [{ version: 16, before: 'Title 15' }, { version: 15 }, { version: 14, kind: 'text' }] });
});

t.test('correct() decrypts only the change to undo and newer ones, also with other corrections', async (t) => {
  const id = await make();
  await retitle(id, 6);
  await reads(id, 6, [text(1, 'One.')]);
  await reads(id, 7, [text(2, 'Two.')]);
  t.equal(await reads(id, 0, [], 7), 2, 'without other corrections, the version of the caller does not matter');
  t.match((await list(id)).items[0], { version: 9, undoes: 7, before: 'One.', after: 'Turn 1.' });
  t.equal(await reads(id, 9, [title('Title 7')], 8), 2);
  t.match((await list(id)).items, [
    { version: 11, undoes: 8 },
    { version: 10, kind: 'title' },
  ]);
  await t.rejects(reads(id, 9, [title('Mine')], 11), { code: 'conflict', detail: { change: { version: 10 } } });
  t.equal(opened, 2);
  for (const undo of [0, -1, 12, 2 ** 40, -(2 ** 40)]) {
    await t.rejects(reads(id, 11, [], undo), { code: 'validation_error' }, `undo ${undo}`);
  }
});

t.test('correct() gives a segment back to a speaker whom a later change removed', async (t) => {
  const id = await make();
  await retitle(id, 3);
  await reads(id, 3, [{ kind: 'speaker', segments: [3], speaker: 'speaker_2' }]);
  await reads(id, 4, [text(1, 'One.')]);
  await reads(id, 5, [{ kind: 'speaker', segments: [], speaker: 'speaker_2', from: 'speaker_1', merges: true }]);
  t.equal(await reads(id, 6, [], 4), 3);
  t.match((await list(id)).items[0], { undoes: 4, segments: [3], after: 'speaker_1' });
});

t.test('listChanges() decrypts only the five hundred changes that it lists', async (t) => {
  const id = await make();
  await retitle(id, 1);
  await db.acrossTenants((tx) =>
    tx.rows(
      `insert into corrections (id, workspace_id, transcription_id, version, change_sealed)
       select gen_random_uuid(), workspace_id, transcription_id, n, change_sealed from corrections, generate_series(2, 503) n where transcription_id = ?`,
      [id],
    ),
  );
  opened = 0;
  const counted: Vault = {
    ...vault,
    async open() {
      opened++;
      return Buffer.from(JSON.stringify({ by: { id: null, name: null, email: null }, change: { kind: 'title', places: ['title'] } }));
    },
  };
  const { version, items } = await db.workspace(workspace, (tx) => listChanges(tx, counted, actor, id));
  t.equal(version, 503);
  t.strictSame([items.length, items[0]!.version, items.at(-1)!.version], [500, 503, 4]);
  t.equal(opened, 500);
});
