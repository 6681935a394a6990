import t from 'tap';
import { settleForeignChanges } from '../../../db/transcripts/changes.ts';
import { renameSpeaker } from '../../../db/transcripts/speakers.ts';
import { tokenOf } from '../../support/api/actors.ts';
import { testApi } from '../../support/api/client.ts';
import { visit } from '../../support/console/console.ts';
import { eventually } from '../../support/processes/service.ts';

const api = await testApi(t);
const { world, db, vault } = api;
const owner = await world.member(await world.workspace(), { role: 'owner' });
const { key } = await world.key(owner);
const list = async (query: string) => {
  const { status, json } = await api.call(key, 'GET', `/v1/transcriptions?${query}`);
  return { status, json, ids: (json.items ?? []).map((item: { id: string }) => item.id) as string[], cursor: json.next_cursor as string };
};
const touch = (id: string) =>
  db.acrossTenants((tx) => tx.rows('update transcriptions set updated_at = clock_timestamp() where id = ?', [id]));

/** Waits until every transaction of the server that is open now has ended: those of other tests' databases delay cursors as well. */
async function settled() {
  const [now] = await db.query<{ next: string }>('*', 'select pg_snapshot_xmax(pg_current_snapshot())::text as next');
  await eventually(async () => {
    const [row] = await db.query<{ oldest: string }>('*', 'select pg_snapshot_xmin(pg_current_snapshot())::text as oldest');
    return BigInt(row!.oldest) >= BigInt(now!.next);
  }, 'transactions in progress to end');
}

/** Changes transcriptions in a transaction that stays open. Returns what commits it. */
async function changing(ids: readonly string[]): Promise<() => Promise<void>> {
  let end = () => {};
  const ending = new Promise<void>((resolve) => {
    end = resolve;
  });
  let changed: Promise<void> | undefined;
  await new Promise<void>((begun, failed) => {
    changed = db.acrossTenants(async (tx) => {
      await tx.rows('update transcriptions set updated_at = clock_timestamp() where id = any (?::uuid[])', [ids]);
      begun();
      await ending;
    });
    changed.catch(failed);
  });
  return async () => {
    end();
    await changed;
  };
}

t.test('updated_since returns changes in the order they were made, with a cursor to continue from', async (t) => {
  const before = new Date().toISOString();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(await world.transcription(owner));
  await touch(ids[1]!);
  await settled();
  const first = await list(`updated_since=${before}&limit=3`);
  t.strictSame(first.ids, [ids[0], ids[2], ids[3]]);
  t.equal(first.json.total, 5);
  const second = await list(`cursor=${first.cursor}&limit=3`);
  t.strictSame(second.ids, [ids[4], ids[1]]);
  const none = await list(`cursor=${second.cursor}`);
  t.match(none.json, { total: 0, items: [] });
  await touch(ids[3]!);
  await settled();
  const later = await list(`cursor=${none.cursor}`);
  t.strictSame(later.ids, [ids[3]]);
  t.strictSame((await list(`updated_since=${new Date(Date.now() + 60_000).toISOString()}`)).ids, []);
  t.strictSame((await list(`updated_since=${before}&offset=4`)).ids, [ids[3]]);
  t.notOk('next_cursor' in (await list('limit=1')).json, 'only with the parameters');
});

t.test('updated_since misses nothing that is committed out of order', async (t) => {
  const [early, late] = [await world.transcription(owner), await world.transcription(owner)];
  await settled();
  const start = await list(`updated_since=${new Date(Date.now() + 1).toISOString()}`);
  const commit = await changing([early]);
  await touch(late);
  const during = await list(`cursor=${start.cursor}`);
  t.strictSame(during.ids, [late], 'committed changes are shown immediately');
  await commit();
  const after = await list(`cursor=${during.cursor}`);
  t.ok(after.ids.includes(early));
});

t.test('a cursor reaches the last change, and then waits for earlier ones, beside a transaction that stays open', async (t) => {
  let { cursor } = await list('updated_since=2026-01-01T00:00:00Z&limit=100');
  const late = await world.transcription(owner);
  const commit = await changing([late]);
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push(await world.transcription(owner));
  const read: string[] = [];
  const follow = async () => {
    for (let pages = 0; pages < 5; pages++) {
      const page = await list(`cursor=${cursor}&limit=2`);
      cursor = page.cursor;
      read.push(...page.ids);
      if (page.ids.length < 2) return;
    }
    t.fail('the pages have an end');
  };
  await follow();
  t.strictSame(read.splice(0), [late, ...ids]);
  await commit();
  await follow();
  t.strictSame(read.splice(0), [late], 'only what has changed');
  await touch(ids[4]!);
  await follow();
  t.strictSame(read, [ids[4]]);
});

t.test('a cursor reaches all earlier changes, also if they fill a page', async (t) => {
  const [late, ...early] = (await list('updated_since=2026-01-01T00:00:00Z&limit=4')).ids;
  await settled();
  let { cursor } = await list(`updated_since=${new Date(Date.now() + 1).toISOString()}`);
  const commit = await changing(early);
  await touch(late!);
  const first = await list(`cursor=${cursor}&limit=2`);
  t.strictSame(first.ids, [late]);
  await commit();
  cursor = first.cursor;
  const read = new Set<string>();
  for (let pages = 0; pages < 5; pages++) {
    const page = await list(`cursor=${cursor}&limit=2`);
    for (const id of page.ids) read.add(id);
    cursor = page.cursor;
  }
  t.strictSame([...read].filter((id) => id !== late).sort(), early.sort());
});

t.test('a cursor without any change yet waits for transactions that are open', async (t) => {
  const [early, late] = (await list('updated_since=2026-01-01T00:00:00Z&limit=2')).ids;
  const commit = await changing([early!]);
  await touch(late!); // a transaction that began later and has ended
  const none = await list(`updated_since=${new Date(Date.now() + 60_000).toISOString()}`);
  t.strictSame(none.ids, []);
  await commit();
  await settled();
  t.ok((await list(`cursor=${none.cursor}`)).ids.includes(early!));
});

t.test('a cursor names open transactions in any order', async (t) => {
  const id = await world.transcription(owner);
  await db.query('*', 'update transcriptions set changed_in = 90 where id = ?', [id]);
  const open = [100, 90].map((number) => (200 - number).toString(36));
  const cursor = Buffer.from(`200/00000000-0000-0000-0000-000000000000/${open}`).toString('base64url');
  t.equal((await list(`cursor=${cursor}&limit=1`)).ids[0], id);
});

const SPOKEN = {
  turns: [{ start: 0, end: 1, speaker: 'speaker_1', text: 'Good morning' }],
  speakers: [{ id: 'speaker_1', ai_name: null, name: null }],
};
const changedAt = async (id: string) => {
  const [row] = await db.query<{ at: string }>(
    '*',
    `select to_char(updated_at, 'YYYY-MM-DD HH24:MI:SS.US') as at from transcriptions where id = ?`,
    [id],
  );
  return row!.at;
};

t.test('updated_at does not go back when the later of two changes is made by the transaction that began first', async (t) => {
  const id = await world.transcription(owner, SPOKEN);
  let between = '';
  await db.workspace(owner.workspaceId, async (tx) => {
    await tx.row('select now()');
    await touch(id);
    between = await changedAt(id);
    await renameSpeaker(tx, vault, tokenOf(owner), id, 'speaker_1', 'Ann');
  });
  const after = await changedAt(id);
  t.ok(after > between, `${after} is after ${between}`);
});

t.test('updated_at grows with every change, also while the clock is behind the last one', async (t) => {
  const id = await world.transcription(owner, SPOKEN);
  await db.acrossTenants((tx) => tx.rows(`update transcriptions set updated_at = now() + interval '1 hour' where id = ?`, [id]));
  const ann = await visit(api, { key });
  const project_id = await world.project(owner.workspaceId, 'Sales');
  let last = await changedAt(id);
  const grows = async (change: string, answer: Promise<{ status: number }>) => {
    t.equal((await answer).status, 200, change);
    const now = await changedAt(id);
    t.ok(now > last, `${change}: ${now} is after ${last}`);
    last = now;
  };
  await grows('name', ann.ask('PATCH', `/transcriptions/${id}/speakers/speaker_1`, { name: 'Ann' }));
  await grows('text', ann.ask('PATCH', `/transcriptions/${id}/text`, { segments: [{ id: 1, text: 'Good evening' }] }));
  await grows('project', ann.ask('POST', '/transcriptions/move', { ids: [id], project_id }));
  await grows('author', api.call(key, 'PATCH', `/v1/transcriptions/${id}`, { body: { author: `user:${owner.id}` } }));
});

t.test('updated_since can be combined with filters and search words, and refuses contradicting parameters', async (t) => {
  const id = await world.transcription(owner, {
    language: 'cs',
    externalId: 'x',
    turns: [{ start: 0, end: 1, speaker: null, text: 'Dobrý den' }],
  });
  const since = 'updated_since=2020-01-01T00:00:00%2B02:00';
  t.strictSame((await list(`${since}&language=cs`)).ids, [id]);
  t.match((await list(`${since}&q=dobry`)).json, { total: 1, items: [{ id, hits: [{ text: 'Dobrý den' }] }] });
  t.strictSame((await list(`${since}&external_id=y`)).ids, []);
  const nobody = `cursor=${Buffer.from('5/nobody').toString('base64url')}`;
  for (const bad of ['updated_since=yesterday', 'updated_since=2026-13-01T00:00:00Z', 'cursor=x', nobody, `${since}&sort=duration`])
    t.match(await list(bad), { status: 422, json: { code: 'validation_error' } }, bad);
});

t.test('a cursor of another database starts from the beginning', async (t) => {
  const cursor = Buffer.from('900000000000000000/00000000-0000-0000-0000-000000000000').toString('base64url');
  t.ok((await list(`cursor=${cursor}`)).ids.length);
});

t.test('settleForeignChanges() settles all changes of a restored database, and until then no cursor begins again', async (t) => {
  const member = await world.member(await world.workspace(), { role: 'owner' });
  const { key } = await world.key(member);
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push(await world.transcription(member));
  const rest = `insert into transcriptions (id, workspace_id, author_id, author_email, status, filename_sealed, extension, size_bytes, requested_language)
    select gen_random_uuid(), ?::uuid, ?::uuid, 'x', case when n % 11 > 0 then 'failed' else 'insufficient_balance' end, 'x', 'mp3', 1, 'auto'
    from generate_series(1, 1101) n`;
  await db.query('*', rest, [member.workspaceId, member.id]);
  const foreign = 'update transcriptions set changed_in = 900000000000000000 where workspace_id = ?';
  await db.query('*', `${foreign} and (status <> 'completed' or id = ?)`, [member.workspaceId, ids[2]]);
  const page = async (query: string) => (await api.call(key, 'GET', `/v1/transcriptions?${query}`)).json;
  const first = await page('updated_since=2026-01-01T00:00:00Z');
  t.equal(first.total, 3);
  const second = await page(`cursor=${first.next_cursor}`);
  t.strictSame(
    second.items.map((item: { id: string }) => item.id),
    [ids[2]],
  );
  await settleForeignChanges(db);
  t.strictSame(await db.query('*', 'select 1 from transcriptions where changed_in > 800000000000000000'), []);
});
