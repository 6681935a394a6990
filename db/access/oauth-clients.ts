import { randomUUID } from 'node:crypto';
import type { Db, Tx } from '../postgres/orm.ts';

/** An assistant that people may let in. Anybody may register one: what it says of itself is not to be trusted. */
export interface OAuthClient {
  id: string;
  name: string;
  redirectUris: string[];
}

export async function registerClient(tx: Tx, name: string, redirectUris: readonly string[]): Promise<OAuthClient> {
  const id = randomUUID();
  await tx.rows('insert into oauth_clients (id, name, redirect_uris) select ?, ?, array(select json_array_elements_text(?::json))', [
    id,
    name,
    JSON.stringify(redirectUris),
  ]);
  return { id, name, redirectUris: [...redirectUris] };
}

export async function findClient(tx: Tx, id: string): Promise<OAuthClient | null> {
  if (id.includes('\0')) return null; // PostgreSQL takes no NUL
  const row = await tx.row<{ id: string; name: string; uris: string[] }>(
    'select id, name, to_json(redirect_uris) as uris from oauth_clients where id = ?',
    [id],
  );
  return row && { id: row.id, name: row.name, redirectUris: row.uris };
}

/** Forgets clients that nobody has let in within a day of their registration, and those that have held no token for 90 days. */
export async function forgetClients(db: Db): Promise<void> {
  await db.query(
    '*',
    `delete from oauth_clients c where c.last_used_at < now() - interval '1 day'
       and (c.last_used_at = c.created_at or c.last_used_at < now() - interval '90 days')
       and not exists (select from oauth_tokens t where t.client_id = c.id) and not exists (select from oauth_codes o where o.client_id = c.id)`,
  );
}
