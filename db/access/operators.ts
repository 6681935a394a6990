import { Operator } from '../postgres/entities/audit.ts';
import type { Tx } from '../postgres/orm.ts';

/*
 * Operators run the installation and may see its engines, hosts and the load of all workspaces. They are identified by an e-mail address
 * that the operator's command line or the sign-in provider has verified. An address that only a workspace owner entered is not verified.
 */

export async function addOperator(tx: Tx, email: string): Promise<{ email: string }> {
  const address = email.trim().toLowerCase();
  await tx.em.upsert(Operator, { email: address }, { onConflictAction: 'ignore' });
  return { email: address };
}

/** Throws if no operator has this address. */
export async function removeOperator(tx: Tx, email: string): Promise<{ email: string }> {
  const address = email.trim().toLowerCase();
  if (await tx.em.nativeDelete(Operator, { email: address })) return { email: address };
  throw new Error(`${email} is not an operator; \`admin operator list\` lists them`);
}

export async function listOperators(tx: Tx): Promise<{ email: string; created_at: Date }[]> {
  const operators = await tx.em.find(Operator, {}, { orderBy: { email: 'asc' } });
  return operators.map(({ email, createdAt }) => ({ email, created_at: createdAt }));
}
