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

export interface ClientRow {
  id: string;
  name: string;
  redirect_uris: string[];
  created_at: Date;
  last_used_at: Date;
}

/** Registered clients, the last used first, at most a thousand. The transaction acts for the installation. */
export async function listClients(tx: Tx): Promise<ClientRow[]> {
  const clients = await tx.em.find(OauthClient, {}, { orderBy: { lastUsedAt: 'desc', id: 'asc' }, limit: 1000 });
  return clients.map(({ id, name, redirectUris, createdAt, lastUsedAt }) => ({
    ...{ id, name, redirect_uris: redirectUris, created_at: createdAt, last_used_at: lastUsedAt },
  }));
}

/** Removes a client with every grant it has, in all workspaces. False: there is none. The transaction acts for the installation. */
export async function removeClient(tx: Tx, id: string): Promise<boolean> {
  return !id.includes('\0') && (await tx.em.nativeDelete(OauthClient, { id })) > 0;
}

/** SQL: one statement of the sweep. Forgets clients that nobody has let in within a day of their registration, and those that have held no token for 90 days. */
export async function forgetClients(db: Db): Promise<void> {
  await db.query(
    '*',
    `delete from oauth_clients c where c.last_used_at < now() - interval '1 day'
       and (c.last_used_at = c.created_at or c.last_used_at < now() - interval '90 days')
       and not exists (select from oauth_tokens t where t.client_id = c.id) and not exists (select from oauth_codes o where o.client_id = c.id)`,
  );
}
