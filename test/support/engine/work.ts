import { randomBytes, randomUUID } from 'node:crypto';
import type { EngineFacts } from '../../../db/jobs/engines.ts';
import { FRACTION, STAGE } from '../../../db/jobs/leases.ts';
import type { Db } from '../../../db/postgres/orm.ts';
import { openVault, type Vault } from '../../../db/secrets/vault.ts';

/** Workspaces with transcriptions as an upload would leave them, for tests of the work of engines. */
export interface Bench {
  db: Db;
  vault: Vault;
  /** Value for LONGHAND_MASTER_KEY. */
  masterKey: string;
  workspace(options?: { minutes?: number; concurrency?: number }): Promise<string>;
  /** Inserts a queued transcription, probed unless `seconds` is null. Returns its id. */
  transcription(workspaceId: string, options?: Wanted): Promise<string>;
  /** One row. */
  row<T extends object = Record<string, unknown>>(table: string, id: string): Promise<T | null>;
  balance(workspaceId: string): Promise<number>;
  /** Expires the lease of a row, as if its holder had died a while ago. Waits for a frozen transaction that locks it, which PostgreSQL ends after 60 s. */
  expire(table: 'transcriptions' | 'reports', id: string): Promise<void>;
  /** Ends every back-off. */
  due(): Promise<void>;
  /** Jobs with this name in the queue. */
  jobs(name: string): Promise<number>;
}

const LOCK_TIMEOUT = '55P03';
const FROZEN_MS = 120_000;

/** Progress as the API returns it: that of the lease while one exists. These columns override earlier ones with the same name. */
const PROGRESS = `, ${STAGE} as stage, ${FRACTION} as fraction`;

interface Wanted {
  seconds?: number | null;
  reports?: string[];
  /** Idempotency key. */
  key?: string;
  /** Key of the media in the spool, if there is a file. */
  media?: { id: string; extension: string; key: Buffer; bytes: number };
  aiMetadata?: boolean;
  diarize?: boolean;
}

/** An engine to register. */
export const engineFacts = (id: string = randomUUID()): EngineFacts => ({
  ...{ id, role: 'engine', host: 'h', pid: 1, version: '1', device: 'cpu', model: 'm', concurrency: 2, workerIds: [] },
});

export async function openBench(db: Db): Promise<Bench> {
  const master = randomBytes(32);
  const vault = await openVault(db, [master]);
  const write = (sql: string, parameters: unknown[] = []) => db.acrossTenants((tx) => tx.rows<{ id: string }>(sql, parameters));
  return {
    db,
    vault,
    masterKey: master.toString('base64'),
    workspace: ({ minutes = 1000, concurrency = 4 } = {}) =>
      db.acrossTenants(async (tx) => {
        const row = await tx.row<{ id: string }>(
          `insert into workspaces (name, balance_minutes, concurrency) values ('bench', ?, ?) returning id`,
          [minutes, concurrency],
        );
        await vault.createKey(tx, row!.id);
        await tx.rows('insert into ledger (workspace_id, minutes) values (?, ?)', [row!.id, minutes]);
        return row!.id;
      }),
    async transcription(workspaceId, { seconds = 60, reports = [], key, media, aiMetadata = false, diarize = true } = {}) {
      const id = media?.id ?? randomUUID();
      const filename = await vault.seal(workspaceId, `transcriptions|${id}|filename`, 'voice.mp3');
      const mediaKey = await vault.seal(workspaceId, `transcriptions|${id}|media_key`, media?.key ?? randomBytes(32));
      await write(
        `insert into transcriptions (id, workspace_id, author_id, author_email, status, filename_sealed, extension, media_key_sealed, media_bytes,
           ai_metadata, diarize, duration_seconds, media_type, probed_at, created_at)
         values (?, ?, gen_random_uuid(), 'a@example.org', 'queued', ?, ?, ?, ?, ?, ?, ?::float8, 'audio', case when ? then now() end, clock_timestamp())`,
        [
          id,
          workspaceId,
          filename,
          media?.extension ?? 'mp3',
          mediaKey,
          media?.bytes ?? null,
          aiMetadata,
          diarize,
          seconds,
          seconds !== null,
        ],
      );
      for (const slug of reports) {
        await write(`insert into reports (workspace_id, transcription_id, slug, name, status) values (?, ?, ?, ?, 'queued')`, [
          workspaceId,
          id,
          slug,
          slug,
        ]);
      }
      if (key) {
        await write(
          `insert into idempotency_keys (workspace_id, key, transcription_id, token, node_id, answer, expires_at)
           values (?, ?, ?, gen_random_uuid(), gen_random_uuid(), '{}', now() + interval '1 day')`,
          [workspaceId, key, id],
        );
      }
      return id;
    },
    row: async <T extends object>(table: string, id: string) =>
      (await db.query<T>('*', `select t.*${table === 'transcriptions' ? PROGRESS : ''} from ${table} t where t.id = ?::uuid`, [id]))[0] ??
      null,
    balance: async (id) =>
      Number(
        (await db.query<{ balance_minutes: string }>('*', 'select balance_minutes from workspaces where id = ?', [id]))[0]!.balance_minutes,
      ),
    async expire(table, id) {
      for (const end = performance.now() + FROZEN_MS; ; ) {
        try {
          await write(`update leases set until = clock_timestamp() - interval '1 second' where kind = ? and subject = ?`, [table, id]);
          return;
        } catch (error) {
          if ((error as { code?: string }).code !== LOCK_TIMEOUT || performance.now() > end) throw error;
        }
      }
    },
    async due() {
      await write('update transcriptions set run_after = now()');
      await write('update reports set run_after = now()');
    },
    async jobs(name) {
      const rows = await db.acrossTenants(async (tx) => {
        await tx.rows('set local role none'); // only the owner may read the tables of the queue
        return tx.rows('select 1 from graphile_worker.jobs where task_identifier = ?', [name]);
      });
      return rows.length;
    },
  };
}

/** A finished transcript of a given duration, as the argument of `complete`. */
export function finished(seconds: number) {
  return {
    language: 'en',
    durationSeconds: seconds,
    mediaType: 'audio' as const,
    diarized: false,
    titleSealed: null,
    summarySealed: null,
    topicsSealed: null,
    speakersSealed: null,
    blocks: [{ turnsSealed: Buffer.from('t'), wordsSealed: Buffer.from('w') }],
  };
}
