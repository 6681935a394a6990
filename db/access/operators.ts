import type { Tx } from '../postgres/orm.ts';

/*
 * Who runs the installation, and may see its engines, hosts and the load of all workspaces: by e-mail address, of a person whom the operator's command line or the
 * sign-in provider vouches for. A member whom some owner added, or who came by an owner's link, is not that person.
 */

export async function addOperator(tx: Tx, email: string): Promise<{ email: string }> {
  const address = email.trim().toLowerCase();
  await tx.rows('insert into operators (email) values (?) on conflict (email) do nothing', [address]);
  return { email: address };
}

/** Throws when nobody with this address is an operator. */
export async function removeOperator(tx: Tx, email: string): Promise<{ email: string }> {
  const row = await tx.row<{ email: string }>('delete from operators where email = lower(?) returning email', [email.trim()]);
  if (!row) throw new Error(`${email} is no operator; \`admin operator list\` shows who is`);
  return row;
}

export function listOperators(tx: Tx) {
  return tx.rows<{ email: string; created_at: string }>('select email, created_at from operators order by email');
}
