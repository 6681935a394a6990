/* The process of a self-check: see models-check-apart.ts. */
import { answer } from './apart.ts';
import { checkModel } from './models-check.ts';

await answer(checkModel);
