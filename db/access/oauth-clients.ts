import { randomUUID } from 'node:crypto';
import { OauthClient } from '../postgres/entities/oauth.ts';
import type { Db, Tx } from '../postgres/orm.ts';

/** An assistant that people may let in. Anybody may register one: what it says of itself is not to be trusted. */
export interface OAuthClient {
  id: string;
  name: string;
  redirectUris: string[];
}

export async function registerClient(tx: Tx, name: string, redirectUris: readonly string[]): Promise<OAuthClient> {
  const id = randomUUID();
  await tx.em.insert(OauthClient, { id, name, redirectUris: [...redirectUris] });
  return { id, name, redirectUris: [...redirectUris] };
}

export async function findClient(tx: Tx, id: string): Promise<OAuthClient | null> {
  if (id.includes('\0')) return null; // PostgreSQL takes no NUL
  const client = await tx.em.findOne(OauthClient, { id });
  return client && { id: client.id, name: client.name, redirectUris: client.redirectUris };
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
