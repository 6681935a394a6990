/* The process of a self-check: its arguments are the folder and the options of `checkModel`. See models-check-apart.ts. */
import { type CheckOptions, checkModel } from './models-check.ts';
import type { Found } from './models-check-apart.ts';

const [folder, options] = process.argv.slice(2);
process.once('disconnect', () => process.exit(1)); // whoever waits for it has ended

const found: Found = await checkModel(folder!, JSON.parse(options!) as CheckOptions).then(
  (measured) => ({ measured }),
  (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
);
process.send!(found, () => process.exit(0));
