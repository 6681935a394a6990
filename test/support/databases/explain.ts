import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from '../../../db/postgres/orm.ts';
import { numbered } from '../../../db/postgres/transaction.ts';
import { openBench } from '../engine/work.ts';
import { testDatabase } from './database.ts';

/** Tables that grow with use. */
const LARGE = [
  ...['transcriptions', 'segments', 'reports', 'deliveries', 'notifications', 'metadata_terms', 'ledger', 'idempotency_keys'],
  ...['members', 'api_keys', 'sessions', 'audit_log'],
];
const ROWS = 10_000;
const WORKSPACES = 20;

/** A database with realistic statistics. */
export interface Filled {
  db: Db;
  workspaces: string[];
  /** Large tables that the plan of a statement scans, each with its beginning. */
  scansOf(sql: string): Promise<string[]>;
}

export async function filledDatabase(t: { teardown(after: () => unknown): void }): Promise<Filled> {
  const { db } = await testDatabase(t);
  const bench = await openBench(db);
  const workspaces = await Promise.all(Array.from({ length: WORKSPACES }, () => bench.workspace()));
  await bench.transcription(workspaces[0]!);
  const send = (sql: string, parameters: unknown[] = []) => db.query('*', sql, parameters);
  await send(
    `insert into transcriptions (id, workspace_id, author_id, author_email, status, filename_sealed, extension, duration_seconds, media_type, created_at, completed_at)
     select gen_random_uuid(), (?::uuid[])[1 + i % ${WORKSPACES}], gen_random_uuid(), 'a@example.org', 'completed', '\\x00', 'mp3', 60, 'audio',
       now() - i * interval '1 minute', now() - i * interval '1 minute' from generate_series(1, ${ROWS}) i`,
    [workspaces],
  );
  const each = (table: string, columns: string, values: string) =>
    send(`insert into ${table} (workspace_id, ${columns}) select workspace_id, ${values} from transcriptions`);
  await each('reports', 'transcription_id, slug, name, status', `id, 'tasks', 'Tasks', 'completed'`);
  await each('notifications', 'member_id, transcription_id', 'author_id, id');
  await each('segments', 'transcription_id, block, turns_sealed, words_sealed', `id, 0, '\\x00', '\\x00'`);
  await each('ledger', 'transcription_id, minutes', 'id, -1');
  await each('metadata_terms', 'transcription_id, term, status, created_at', 'id, gen_random_uuid(), status, created_at');
  await each('audit_log', 'actor_kind, action', `'key', 'transcription.delete'`);
  await each('members', 'email, role', `id || '@example.org', 'owner'`);
  await send(
    `insert into api_keys (workspace_id, member_id, hash, hint, scopes) select workspace_id, id, decode(md5(id::text), 'hex'), '', '{read}' from members`,
  );
  await send(
    `insert into sessions (hash, workspace_id, member_id, csrf, expires_at) select decode(md5(id::text), 'hex'), workspace_id, id, '', now() + interval '1 day' from members`,
  );
  await each(
    'idempotency_keys',
    'key, transcription_id, token, node_id, answer, expires_at',
    `id::text, id, id, id, '{}', now() + interval '1 day'`,
  );
  await send(`insert into webhooks (workspace_id, url, secret_sealed) select unnest(?::uuid[]), 'https://example.org/', '\\x00'`, [
    workspaces,
  ]);
  await send(
    `insert into deliveries (workspace_id, webhook_id, event, body, status) select t.workspace_id, w.id, 'x', '{}', 'delivered'
     from transcriptions t join webhooks w on w.workspace_id = t.workspace_id`,
  );
  await send('delete from search_waiting'); // transcripts are indexed soon
  await db.direct('analyze');
  return {
    db,
    workspaces,
    async scansOf(sql) {
      if (!/^\s*\(?\s*(select|update|delete|insert|with)/i.test(sql)) return [];
      const rows = await db.direct(`explain (generic_plan, costs off) ${numbered(sql)}`);
      const plan = rows.map((row) => String(row['QUERY PLAN'])).join('\n');
      const scanned = [...plan.matchAll(/Seq Scan on (\w+)/g)].map(([, table]) => table!).filter((table) => LARGE.includes(table));
      return scanned.map((table) => `${table}: ${sql.replace(/\s+/g, ' ').slice(0, 200)}`);
    },
  };
}

/** Statements that recorder.mjs wrote into a folder. */
export function recordedStatements(folder: string): string[] {
  const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));
  return [...new Set(lines.filter(Boolean).map((line) => JSON.parse(line) as string))];
}

/** Recorded statements that scan a large table, and those that cannot be explained. */
export async function refusedStatements(t: { teardown(after: () => unknown): void }, folder: string): Promise<string[]> {
  const { scansOf } = await filledDatabase(t);
  const refused: string[] = [];
  for (const sql of recordedStatements(folder)) {
    refused.push(...(await scansOf(sql).catch((error: Error) => [`cannot be explained: ${error.message}: ${sql.slice(0, 120)}`])));
  }
  return refused;
}
