import { randomBytes } from 'node:crypto';
import t from 'tap';
import { match } from '../../../db/search/match.ts';
import { questionOf, searchKey } from '../../../db/search/terms.ts';
import { openVault } from '../../../db/secrets/vault.ts';
import type { Engine } from '../../../engine/tasks/engine.ts';
import { nextIndexing } from '../../../engine/tasks/search.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openWorld } from '../../support/databases/world.ts';

const { db } = await testDatabase(t);
const vault = await openVault(db, [randomBytes(32)]);
const world = openWorld(db, vault);
const member = await world.member(await world.workspace(), { role: 'owner' });
const { workspaceId } = member;

t.test(
  'nextIndexing() indexes all transcripts of an older version and packs them into blocks; a damaged one is tried again later',
  async (t) => {
    const turns = [{ start: 0, end: 1, speaker: null, text: 'A zebra.' }];
    const ids: string[] = [];
    for (let i = 0; i < 65; i++) ids.push(await world.transcription(member, { turns }));
    await db.query('*', `update segments set turns_sealed = 'x' where transcription_id = ?`, [ids[7]!]);
    const failed: string[] = [];
    const log = { warn: ({ transcription }: { transcription: string }) => failed.push(transcription) };
    const engine = { db, vault, log } as unknown as Engine;
    t.equal(await nextIndexing(engine, AbortSignal.abort()), null);
    const signal = new AbortController().signal;
    for (let job = await nextIndexing(engine, signal); job; job = await nextIndexing(engine, signal)) await job();
    const question = questionOf(await searchKey(vault, workspaceId), 'zebra')!;
    t.equal((await db.workspace(workspaceId, (tx) => match(tx, workspaceId, question))).count, 64);
    t.match(await db.query('*', 'select level, first, last from search_blocks'), [{ level: 1, first: 1, last: 64 }]);
    t.strictSame(failed, [ids[7]]);
    t.match(await db.query('*', 'select transcription_id, attempt, due_at > now() as later from search_waiting'), [
      { transcription_id: ids[7], attempt: 1, later: true },
    ]);
  },
);
