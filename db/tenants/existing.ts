import type { Tx } from '../postgres/orm.ts';
import { isTaken } from '../postgres/unique.ts';
import { lookupId } from './visibility.ts';

const EXISTING = {
  workspace: 'select id, id as workspace_id from workspaces where id = ?',
  project: 'select id, workspace_id from projects where id = ?',
  member: `select id, workspace_id from members where id = ? and workspace_id = ? and status <> 'removed'`,
};

/** The row with the first id (a member: of the workspace with the second). Throws when it is not there. */
export async function existing(tx: Tx, kind: keyof typeof EXISTING, ...ids: string[]): Promise<{ id: string; workspace_id: string }> {
  const row = await tx.row<{ id: string; workspace_id: string }>(EXISTING[kind], ids.map(lookupId));
  return row ?? Promise.reject(absent(kind, ids[0]!));
}

export function absent(kind: string, id: string): Error {
  return new Error(`There is no ${kind} ${id}${kind === 'workspace' ? '' : ' there'}`);
}

/** What is wished for is there already. */
export class Taken extends Error {}

/** What `insert` answers. Throws `Taken` when another row has its address or slug. */
export async function unique<T>(field: 'address' | 'slug', what: string, insert: Promise<T | null>): Promise<T> {
  try {
    return (await insert)!;
  } catch (error) {
    if (isTaken(field, error)) throw new Taken(`There is ${what} already`, { cause: error });
    throw error;
  }
}

/** An array literal; the values hold no quotes, braces or commas. */
export function array(values: readonly string[]): string {
  return `{${values.join(',')}}`;
}
