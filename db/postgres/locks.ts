import type { Tx } from './orm.ts';

/** Takes the advisory lock of this name until the transaction ends: others that ask for it wait, on all hosts. */
export async function lockNamed(tx: Tx, name: string): Promise<void> {
  await tx.rows('select pg_advisory_xact_lock(hashtextextended(?, 0))', [name]);
}
