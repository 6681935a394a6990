import { Operator } from '../postgres/entities/audit.ts';
import type { Tx } from '../postgres/orm.ts';

/*
 * Who runs the installation, and may see its engines, hosts and the load of all workspaces: by e-mail address, of a person whom the operator's command line or the
 * sign-in provider vouches for. A member whom some owner added, or who came by an owner's link, is not that person.
 */

export async function addOperator(tx: Tx, email: string): Promise<{ email: string }> {
  const address = email.trim().toLowerCase();
  await tx.em.upsert(Operator, { email: address }, { onConflictAction: 'ignore' });
  return { email: address };
}

/** Throws if nobody with this address is an operator. */
export async function removeOperator(tx: Tx, email: string): Promise<{ email: string }> {
  const address = email.trim().toLowerCase();
  if (await tx.em.nativeDelete(Operator, { email: address })) return { email: address };
  throw new Error(`${email} is no operator; \`admin operator list\` shows who is`);
}

export async function listOperators(tx: Tx): Promise<{ email: string; created_at: Date }[]> {
  const operators = await tx.em.find(Operator, {}, { orderBy: { email: 'asc' } });
  return operators.map(({ email, createdAt }) => ({ email, created_at: createdAt }));
}
