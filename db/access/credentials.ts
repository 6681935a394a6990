import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { KeyActor, TokenActor } from '../../api/contract/actor.ts';
import { OWNER_SCOPES, type Plan, type Role, type Scope } from '../../api/contract/workspace.ts';
import { ApiKey } from '../postgres/entities/member.ts';
import { now } from '../postgres/expressions.ts';
import type { Db, Tx } from '../postgres/orm.ts';

const KEY = 'lh_';
const TOKEN = 'lht_';
const SECRET_BYTES = 32;
const SECRET_CHARACTERS = 43; // 32 bytes in base 62
const CHECKSUM_CHARACTERS = 6; // CRC-32 in base 62
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * A new API key: `lh_`, 32 random bytes, a checksum that allows secret scanners to recognise it. Shown once; the database stores `hashOf`
 * it.
 */
export function newKey(): string {
  return mint(KEY);
}

/** A new OAuth access or refresh token, in the same form with another prefix. */
export function newToken(): string {
  return mint(TOKEN);
}

function mint(prefix: string): string {
  const secret = prefix + base62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_CHARACTERS);
  return secret + checksum(secret);
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_CHARACTERS);
}

function base62(value: bigint, width: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text;
  return text.padStart(width, '0');
}

/** SHA-256, the only form in which keys and tokens are stored. */
export function hashOf(credential: string): Buffer {
  return createHash('sha256').update(credential).digest();
}

/** 'key' or 'token' if format and checksum are valid, else null: such a credential is rejected without a query. */
export function kindOf(credential: string): 'key' | 'token' | null {
  const prefix = credential.startsWith(TOKEN) ? TOKEN : KEY;
  const length = prefix.length + SECRET_CHARACTERS;
  if (!credential.startsWith(prefix) || credential.length !== length + CHECKSUM_CHARACTERS) return null;
  if (checksum(credential.slice(0, length)) !== credential.slice(length)) return null;
  return prefix === TOKEN ? 'token' : 'key';
}

/** Columns that identify the member, however they signed in. */
export interface MemberRow {
  workspace_id: string;
  workspace_name: string;
  plan: Plan;
  member_id: string;
  email: string;
  name: string | null;
  role: Role;
}

/** The member on whose behalf the actor acts, with those of `scopes` that the member's role allows. */
export function inTheNameOf(row: MemberRow, scopes: readonly Scope[]) {
  return {
    workspaceId: row.workspace_id,
    workspaceName: row.workspace_name,
    plan: row.plan,
    memberId: row.member_id,
    memberEmail: row.email,
    memberName: row.name,
    role: row.role,
    scopes: new Set(scopes.filter((scope) => !OWNER_SCOPES.has(scope) || row.role === 'owner')),
  };
}

interface CredentialRow extends MemberRow {
  id: string;
  hash: Buffer;
  scopes: Scope[];
  expires_at: string | null;
  resource: string | null;
  vouched: boolean;
}

const WHO = `w.name as workspace_name, w.plan, m.email, m.name, m.role
  from found f join workspaces w on w.id = f.workspace_id and w.deleted_at is null join members m on m.id = f.member_id and m.status = 'active'`;

/** SQL: a key or token is neither revoked nor expired. */
function inForce(table: string): string {
  return `${table}.revoked_at is null and (${table}.expires_at is null or ${table}.expires_at > now())`;
}

/** SQL: the originating key, whose id is in this column, is valid too; null: there is none. */
export function causeInForce(column: string): string {
  return `(${column} is null or exists (select from api_keys cause where cause.id = ${column} and ${inForce('cause')}))`;
}

/** The same for entities: neither revoked nor expired. */
const stillInForce = () => ({ revokedAt: null, $or: [{ expiresAt: null }, { expiresAt: { $gt: now() } }] });

/**
 * The same for entities with a `keyId`: the originating key is valid, or there is none. MikroORM's types treat that key as an id without
 * fields.
 */
export const fromKeyInForce = () => ({ $or: [{ keyId: null }, { keyId: stillInForce() as unknown as string }] });

/** Whether the originating key is valid; null: there is none. */
export async function isKeyInForce(tx: Tx, keyId: string | null): Promise<boolean> {
  return keyId === null || (await tx.em.count(ApiKey, { id: keyId, ...stillInForce() })) > 0;
}

/** SQL: run by every request. One statement each; use of a key is recorded once per minute. */
const FIND = {
  key: `with found as (select id, hash, to_json(scopes) as scopes, expires_at, null::text as resource, vouched, workspace_id, member_id from api_keys
      where hash = ? and ${inForce('api_keys')} and ${causeInForce('api_keys.parent_id')}),
    used as (update api_keys k set last_used_at = now() from found
      where k.id = found.id and (k.last_used_at is null or k.last_used_at < now() - interval '1 minute'))
    select f.*, ${WHO}`,
  token: `with found as (select id, hash, to_json(scopes) as scopes, expires_at, resource, false as vouched, workspace_id, member_id from oauth_tokens
      where hash = ? and kind = 'access' and ${inForce('oauth_tokens')} and ${causeInForce('oauth_tokens.key_id')})
    select f.*, ${WHO}`,
};

/** The actor of a key or token; null if it is malformed, unknown, revoked or expired, or its member is not active. SQL: see FIND. */
export async function findCredential(db: Db, credential: string): Promise<KeyActor | TokenActor | null> {
  const kind = kindOf(credential);
  if (!kind) return null;
  const hash = hashOf(credential);
  const row = await db.acrossTenants((tx) => tx.row<CredentialRow>(FIND[kind], [hash]));
  if (!row || !timingSafeEqual(row.hash, hash)) return null;
  const member = { ...inTheNameOf(row, row.scopes), expiresAt: row.expires_at === null ? null : new Date(row.expires_at) };
  return kind === 'key'
    ? { kind, ...member, keyId: row.id, vouched: row.vouched }
    : { kind, ...member, tokenId: row.id, resource: row.resource };
}
