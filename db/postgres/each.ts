/** Runs all steps, one after another, also after some have failed. Throws the first failure at the end. */
export async function runEach(steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => void failures.push(error));
  if (failures.length) throw failures[0];
}
