/*
 * Every statement names the workspace itself; row-level security is the second defence. Here it hides nothing, so that only the predicates
 * keep workspaces apart.
 */
import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Actor } from '../../../api/contract/actor.ts';
import { ApiError } from '../../../api/contract/errors.ts';
import { revokeGrant } from '../../../db/access/grants.ts';
import { revokeKey } from '../../../db/access/keys.ts';
import { signInLink } from '../../../db/access/sign-in-links.ts';
import type { Tx } from '../../../db/postgres/orm.ts';
import { earlierReports } from '../../../db/reports/history.ts';
import { reportTarget } from '../../../db/reports/request.ts';
import { changeTemplate, deleteTemplate } from '../../../db/reports/templates.ts';
import { changeMember, removeMember } from '../../../db/tenants/members.ts';
import { deleteProject, listProjectMembers, uploadProject } from '../../../db/tenants/projects.ts';
import { correct, listChanges } from '../../../db/transcripts/corrections.ts';
import { mayEdit, remove } from '../../../db/transcripts/mutate.ts';
import { loadRecord } from '../../../db/transcripts/record.ts';
import { renameSpeaker } from '../../../db/transcripts/speakers.ts';
import {
  changeWebhook,
  deleteWebhook,
  findWebhook,
  listDeliveries,
  listWebhooks,
  replayDelivery,
  rotateSecret,
  testWebhook,
} from '../../../db/webhooks/endpoints.ts';
import { tokenOf } from '../../support/api/actors.ts';
import { testDatabase } from '../../support/databases/database.ts';
import { openWorld } from '../../support/databases/world.ts';
import { openBench } from '../../support/engine/work.ts';

const { db } = await testDatabase(t);
const { vault } = await openBench(db);
const world = openWorld(db, vault);
const owner = async () => world.member(await world.workspace(), { role: 'owner' });
const [us, them] = [await owner(), await owner()];
const colleague = await world.member(them.workspaceId);
const transcription = await world.transcription(them);
const report = await world.report(transcription, 'summary', 'completed', 'They agreed.');
const { id: key } = await world.key(colleague);
const { id: token } = await world.token(colleague);
const project = await world.project(them.workspaceId, 'Sales');
const template = await world.template(them.workspaceId, 'notes');
const [{ family }] = (await db.query<{ family: string }>('*', 'select family from oauth_tokens where id = ?', [token])) as [
  { family: string },
];
const [webhook, delivery] = [randomUUID(), randomUUID()];
await db.query('*', `insert into webhooks (id, workspace_id, url, secret_sealed) values (?, ?, 'https://example.org/', '\\x00')`, [
  webhook,
  them.workspaceId,
]);
await db.query('*', `insert into deliveries (id, workspace_id, webhook_id, event, body) values (?, ?, ?, 'webhook.test', '{}')`, [
  delivery,
  them.workspaceId,
  webhook,
]);

type Call = (tx: Tx, actor: Actor) => Promise<unknown>;

const CALLS: Record<string, Call> = {
  revokeGrant: (tx, actor) => revokeGrant(tx, actor, family),
  revokeKey: (tx, actor) => revokeKey(tx, actor, key),
  signInLink: async (tx, actor) => ({ secret: await signInLink(tx, actor, colleague.id) }),
  earlierReports: (tx, actor) => earlierReports(tx, vault, actor, transcription, report),
  reportTarget: (tx, actor) => reportTarget(tx, actor, transcription),
  changeTemplate: (tx, actor) => changeTemplate(tx, actor, template, { name: 'Ours' }),
  deleteTemplate: (tx, actor) => deleteTemplate(tx, actor, template),
  changeMember: (tx, actor) => changeMember(tx, actor, colleague.id, { name: 'Ours' }),
  removeMember: (tx, actor) => removeMember(tx, actor, colleague.id),
  deleteProject: (tx, actor) => deleteProject(tx, actor, project),
  listProjectMembers: (tx, actor) => listProjectMembers(tx, actor, project),
  uploadProject: (tx, actor) => uploadProject(tx, actor, project),
  correct: (tx, actor) => correct(tx, vault, actor, transcription, { version: 0, wishes: [{ kind: 'title', title: 'Ours' }] }),
  listChanges: (tx, actor) => listChanges(tx, vault, actor, transcription),
  mayEdit: (tx, actor) => mayEdit(tx, actor, transcription),
  remove: (tx, actor) => remove(tx, actor, transcription),
  loadRecord: (tx, actor) => loadRecord(tx, vault, actor, transcription),
  renameSpeaker: (tx, actor) => renameSpeaker(tx, vault, actor, transcription, 'speaker_1', 'Ours'),
  findWebhook: (tx, actor) => findWebhook(tx, actor, webhook),
  changeWebhook: (tx, actor) => changeWebhook(tx, actor, webhook, { active: false }),
  rotateSecret: (tx, actor) => rotateSecret(tx, vault, actor, webhook),
  testWebhook: (tx, actor) => testWebhook(tx, actor, webhook),
  deleteWebhook: (tx, actor) => deleteWebhook(tx, actor, webhook),
  listDeliveries: (tx, actor) => listDeliveries(tx, actor, webhook),
  replayDelivery: (tx, actor) => replayDelivery(tx, actor, delivery),
  listWebhooks: async (tx, actor) => (await listWebhooks(tx, actor))[0] ?? null,
};

/** The result of a call in a transaction that sees all workspaces and is rolled back: a value, true for none, or the code of its error. */
async function attempt(call: Call, actor: Actor): Promise<unknown> {
  const undone = new Error('rolled back');
  let result: unknown;
  const work = db.acrossTenants(async (tx) => {
    const value = await call(tx, actor);
    result = value === undefined ? true : value;
    throw undone;
  });
  return work.catch((error) => {
    if (error === undone) return result;
    return error instanceof ApiError ? error.code : error;
  });
}

for (const [name, call] of Object.entries(CALLS)) {
  t.test(`${name}() finds nothing of another workspace, even in a transaction that sees all of them`, async (t) => {
    const theirs = await attempt(call, tokenOf(them));
    t.notOk(theirs === null || theirs instanceof Error || typeof theirs === 'string', `their owner: ${theirs}`);
    const ours = await attempt(call, tokenOf(us));
    t.ok(ours === null || /^(member_)?not_found$/.test(String(ours)), `an owner of another workspace: ${JSON.stringify(ours)}`);
  });
}
