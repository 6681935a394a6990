import { enqueue } from '../jobs/queue.ts';
import type { Db } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';

/*
 * SQL: claims, and requests that replace each other.
 * Title, summary, topics and speaker names are written by a courier, because a language model may be needed and the engine has no outgoing
 * network access. The engine makes a request before it completes a transcript and waits for the answer; both are stored here, encrypted,
 * for that time.
 */

/** Input of an AI layer. */
export interface LayerSource {
  language: string | null;
  durationSeconds: number;
  segments: { id: number; start: number; end: number; speaker: string; text: string }[];
}

/** Result of a request. */
export interface WrittenLayer {
  title: string;
  summary: string;
  /** Absent: written by a courier of an earlier version. */
  writer?: 'model' | 'extractive';
  topics: string[];
  speakerNames: { speaker: string; name: string }[];
}

/** One request, identified by its transcription. A later request for the same transcription replaces it. */
export interface LayerRequest {
  workspaceId: string;
  id: string;
  token: string;
}

const KEPT = '10 minutes'; // longer than any engine waits

/** Requests an AI layer. */
export async function requestLayer(
  db: Db,
  vault: Vault,
  { workspaceId, id }: Omit<LayerRequest, 'token'>,
  source: LayerSource,
): Promise<LayerRequest> {
  const sealed = await vault.seal(workspaceId, `layers|${id}|source`, JSON.stringify(source));
  return db.workspace(workspaceId, async (tx) => {
    const row = await tx.row<{ token: string }>(
      `insert into layers (transcription_id, workspace_id, source_sealed) values (?::uuid, ?::uuid, ?)
       on conflict (transcription_id) do update set token = excluded.token, source_sealed = excluded.source_sealed, result_sealed = null,
         status = 'queued', created_at = now() returning token`,
      [id, workspaceId, sealed],
    );
    await enqueue(tx, 'describe', { id });
    return { workspaceId, id, token: row!.token };
  });
}

/** State of a request: `queued`, `processing`, `failed`, or the layer. Null: it was replaced, or deleted with its transcription. */
export async function readLayer(
  db: Db,
  vault: Vault,
  { workspaceId, id, token }: LayerRequest,
): Promise<'queued' | 'processing' | 'failed' | WrittenLayer | null> {
  const [row] = await db.query<{ status: 'queued' | 'processing' | 'failed' | 'completed'; result_sealed: Buffer | null }>(
    workspaceId,
    'select l.status, l.result_sealed from layers l where l.workspace_id = ?::uuid and l.transcription_id = ?::uuid and l.token = ?::uuid',
    [workspaceId, id, token],
  );
  if (!row) return null;
  if (row.status !== 'completed') return row.status;
  return JSON.parse((await vault.text(workspaceId, `layers|${id}|result`, row.result_sealed))!) as WrittenLayer;
}

/** Withdraws a request, whether or not it was answered. */
export async function withdrawLayer(db: Db, { workspaceId, id, token }: LayerRequest): Promise<void> {
  await db.query(workspaceId, 'delete from layers where workspace_id = ?::uuid and transcription_id = ?::uuid and token = ?::uuid', [
    workspaceId,
    id,
    token,
  ]);
}

/**
 * Claims the oldest waiting request with its input. Null: there is none. If the courier dies, the engine stops waiting after its timeout.
 */
export async function claimLayer(db: Db, vault: Vault): Promise<(LayerRequest & { source: LayerSource }) | null> {
  const row = await db.acrossTenants((tx) =>
    tx.row<{ transcription_id: string; workspace_id: string; token: string; source_sealed: Buffer }>(
      `update layers set status = 'processing' where transcription_id = (
         select q.transcription_id from layers q where q.status = 'queued' order by q.created_at limit 1 for update skip locked)
       returning transcription_id, workspace_id, token, source_sealed`,
    ),
  );
  if (!row) return null;
  const { transcription_id: id, workspace_id: workspaceId, token } = row;
  const source = JSON.parse((await vault.text(workspaceId, `layers|${id}|source`, row.source_sealed))!) as LayerSource;
  return { workspaceId, id, token, source };
}

/** Stores the result of a request; null: writing failed. False: the engine no longer waits. */
export async function answerLayer(
  db: Db,
  vault: Vault,
  { workspaceId, id, token }: LayerRequest,
  layer: WrittenLayer | null,
): Promise<boolean> {
  const sealed = layer && (await vault.seal(workspaceId, `layers|${id}|result`, JSON.stringify(layer)));
  const rows = await db.query(
    workspaceId,
    `update layers set status = ?, result_sealed = ? where workspace_id = ?::uuid and transcription_id = ?::uuid and token = ?::uuid returning 1`,
    [layer ? 'completed' : 'failed', sealed, workspaceId, id, token],
  );
  return rows.length > 0;
}

/** Leaves a claimed request to another courier. */
export async function requeueLayer(db: Db, { workspaceId, id, token }: LayerRequest): Promise<void> {
  await db.workspace(workspaceId, async (tx) => {
    const rows = await tx.rows(
      `update layers set status = 'queued' where workspace_id = ?::uuid and transcription_id = ?::uuid and token = ?::uuid
         and status = 'processing' returning 1`,
      [workspaceId, id, token],
    );
    if (rows.length) await enqueue(tx, 'describe', { id });
  });
}

/** Whether the engine still waits for a request. */
export async function layerWanted(db: Db, { workspaceId, id, token }: LayerRequest): Promise<boolean> {
  const rows = await db.query(
    workspaceId,
    `select 1 from layers l where l.workspace_id = ?::uuid and l.transcription_id = ?::uuid and l.token = ?::uuid`,
    [workspaceId, id, token],
  );
  return rows.length > 0;
}

/** Removes requests whose engine died. */
export async function forgetLayers(db: Db): Promise<void> {
  await db.query('*', `delete from layers where created_at < now() - interval '${KEPT}'`);
}
