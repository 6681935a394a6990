/* Clients and their API in the simulation of uploads, leases and charges. */
import { randomUUID } from 'node:crypto';
import type { Context } from '../../../api/http/route.ts';
import { receive, releaseUpload } from '../../../api/upload/receive.ts';
import type { Db } from '../../../db/postgres/orm.ts';
import { reportTarget, requestReports } from '../../../db/reports/request.ts';
import { remove } from '../../../db/transcripts/mutate.ts';
import { takeSlot, type UploadRequest } from '../../../db/uploads/accept.ts';
import { claimKey, type IdempotencyClaim } from '../../../db/uploads/idempotency.ts';
import { tokenOf } from '../../support/api/actors.ts';
import { type Actor, Fault } from '../../support/databases/interleave.ts';
import type { Seeded } from '../../support/seeded.ts';
import { fenced, type Operation, type Part, uuid, type World } from './world.ts';

export const SUMMARY = { templateId: null, slug: 'summary', name: 'Summary' };
export const TASKS = { templateId: null, slug: 'action-items', name: 'Action items' };

const upload: Operation = (actor, world) => send(actor, world, ['a', 'b', 'c']);
const uploadAnyhow: Operation = (actor, world) => send(actor, world, ['a', 'b', 'c', null, null]);

export const CLIENT: Part = {
  ...{ upload, again: upload, andAgain: upload },
  async remove({ db, chance }, { workspaces, spool }) {
    const viewer = someone(workspaces, chance);
    const [id] = await oldest(db, viewer.workspaceId, 1);
    if (!id) return;
    await db.workspace(viewer.workspaceId, (tx) => remove(tx, viewer, id));
    spool.delete(id);
  },
  request: asking(1),
};

/** A client that competes for the scarcest resource. */
export const EAGER: Part = {
  upload: uploadAnyhow,
  again: uploadAnyhow,
  request: asking(3),
  requestAgain: asking(3),
  remove: CLIENT.remove!,
};

/** Requests reports of one of the oldest transcriptions. */
function asking(among: number): Operation {
  return async ({ db, chance }, { limits, workspaces }) => {
    const viewer = someone(workspaces, chance);
    const { workspaceId } = viewer;
    const id = chance.pick(await oldest(db, workspaceId, among));
    await db.workspace(workspaceId, async (tx) => {
      const target = id && (await reportTarget(tx, viewer, id));
      if (!target || target.status === 'failed' || target.status === 'insufficient_balance') return;
      await requestReports(tx, viewer, target, chance.random() < 0.5 ? [SUMMARY] : [SUMMARY, TASKS], limits, null);
    });
  };
}

function someone(workspaces: readonly string[], chance: Seeded) {
  return tokenOf({ workspaceId: chance.pick(workspaces)!, id: randomUUID() });
}

async function oldest(db: Db, workspaceId: string, most: number): Promise<string[]> {
  const sql = 'select id from transcriptions where workspace_id = ? order by created_at, id limit ?';
  return (await db.query<{ id: string }>(workspaceId, sql, [workspaceId, most])).map(({ id }) => id);
}

/** Like api/upload/upload.ts after its checks: key if there is one, slot, body, then row, response and job in one transaction. */
async function send(actor: Actor, world: World, keys: readonly (string | null)[]): Promise<unknown> {
  const { db, chance } = actor;
  const { limits } = world;
  const workspaceId = chance.pick(world.workspaces)!;
  const key = chance.pick(keys)!;
  const claim: IdempotencyClaim | null = key ? { workspaceId, key, token: randomUUID() } : null;
  const sent = requestOf(workspaceId, key, chance);
  const node = randomUUID();
  world.dead.add(sent.id); // until its host knows that it has claimed the key
  if (claim) {
    const { state } = await db.workspace(workspaceId, (tx) => claimKey(tx, claim, sent.id, node, null));
    if (state !== 'mine') return;
    if (chance.random() < 0.1) return; // the host dies
  }
  world.dead.delete(sent.id);
  const context = {
    db,
    vault: world.bench.vault,
    limits,
    spool: spoolOf(world),
    request: { body: bodyOf(actor) },
  } as unknown as Context;
  try {
    await db.workspace(workspaceId, (tx) => takeSlot(tx, sent, node, limits, null));
    if (chance.random() < 0.1) {
      world.dead.add(sent.id); // the host dies, and a part of the file is left
      return void world.spool.add(sent.id);
    }
    return await receive(context, sent, claim);
  } catch (error) {
    const trespass = await fenced(actor, world, claim?.token ?? '', () => releaseUpload(context, sent, claim)).catch((failure: Error) => {
      if (failure instanceof Fault) world.dead.add(sent.id);
      else throw failure;
    });
    if (trespass) return trespass;
    throw error;
  }
}

function spoolOf({ spool }: World) {
  return {
    async create(id: string) {
      spool.add(id);
      const abort = async () => void spool.delete(id);
      return { write: async () => {}, finish: async () => ({ bytes: 2048, key: Buffer.alloc(32) }), abort };
    },
  };
}

/** A body of 2 KB that arrives complete or is truncated. */
function bodyOf({ chance, turn }: Actor) {
  return {
    async consume(take: (chunk: Uint8Array) => Promise<void>) {
      await take(new Uint8Array(2048));
      await turn('receive');
      return chance.random() < 0.1 ? 'aborted' : 'complete';
    },
  };
}

export function requestOf(workspaceId: string, externalId: string | null, chance: Seeded): UploadRequest {
  const member = { id: randomUUID(), email: 'a@example.org', name: null };
  return {
    ...{ id: uuid(chance), actor: tokenOf({ workspaceId, id: member.id }), author: member, projectId: null },
    ...{ filename: 'call.mp3', extension: 'mp3', language: 'auto', diarize: true, speakersCount: null, aiMetadata: false },
    ...{ externalId, metadata: null, templates: chance.random() < 0.5 ? [SUMMARY] : [] },
  };
}
