import { randomUUID } from 'node:crypto';
import { OauthClient } from '../postgres/entities/oauth.ts';
import type { Db, Tx } from '../postgres/orm.ts';

/** A registered assistant. Anyone may register one, so its description is untrusted. */
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
  if (id.includes('\0')) return null; // PostgreSQL rejects NUL
  const client = await tx.em.findOne(OauthClient, { id });
  return client && { id: client.id, name: client.name, redirectUris: client.redirectUris };
}

export interface ClientRow {
  id: string;
  name: string;
  redirect_uris: string[];
  created_at: Date;
  last_used_at: Date;
}

/** Registered clients, most recently used first, at most a thousand. The transaction acts for the installation. */
export async function listClients(tx: Tx): Promise<ClientRow[]> {
  const clients = await tx.em.find(OauthClient, {}, { orderBy: { lastUsedAt: 'desc', id: 'asc' }, limit: 1000 });
  return clients.map(({ id, name, redirectUris, createdAt, lastUsedAt }) => ({
    ...{ id, name, redirect_uris: redirectUris, created_at: createdAt, last_used_at: lastUsedAt },
  }));
}

/** Removes a client with all its grants, in all workspaces. False: it does not exist. The transaction acts for the installation. */
export async function removeClient(tx: Tx, id: string): Promise<boolean> {
  return !id.includes('\0') && (await tx.em.nativeDelete(OauthClient, { id })) > 0;
}

/**
 * SQL: one statement of the sweep. Removes clients without any consent within a day of registration, and those without a token for 90 days.
 */
export async function forgetClients(db: Db): Promise<void> {
  await db.query(
    '*',
    `delete from oauth_clients c where c.last_used_at < now() - interval '1 day'
       and (c.last_used_at = c.created_at or c.last_used_at < now() - interval '90 days')
       and not exists (select from oauth_tokens t where t.client_id = c.id) and not exists (select from oauth_codes o where o.client_id = c.id)`,
  );
}
