import { type EntityName, LockMode, raw } from '@mikro-orm/postgresql';

/*
 * SQL in conditions and values of entities: the database's time, and comparisons that MikroORM cannot express. Each is created where it is
 * used, because MikroORM accepts an instance only once.
 */

/** The start of the transaction. */
export const now = () => raw('now()');

/** That many seconds after it, or before it if negative. */
export const fromNow = (seconds: number) => raw(`now() + ?::float8 * interval '1 second'`, [seconds]);

/** A column, to compare with `lower`: `{ [lowered('email')]: lower(address) }`. */
export const lowered = (column: string) => raw((alias: string) => `lower(${alias}.${column})`);
export const lower = (text: string) => raw('lower(?)', [text]);

/** One of these ids, as one parameter, so that the statement is the same for any number of them and stays prepared. */
export const anyOf = (ids: readonly (string | number)[], type: 'uuid' | 'bigint' = 'uuid') => raw(`any (?::${type}[])`, [[...ids]]);

/**
 * The next `updated_at` of a transcription `t`: later than the last one, whenever the transaction began and whatever the clock does. SQL, to
 * be inserted into statements.
 */
export const NEXT_CHANGE = `greatest(clock_timestamp(), t.updated_at + interval '1 microsecond')`;

/** Locks rows for this transaction and rereads them; against changes, or only against removal. */
export const HELD = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
export const KEPT = { lockMode: LockMode.PESSIMISTIC_READ, refresh: true } as const;

/** Tables with rows of members. */
export type OfMember = EntityName<{ workspaceId: string; memberId: string }>;
/** Tables with rows that came from a key. */
export type OfKey = EntityName<{ workspaceId: string; keyId: string }>;
