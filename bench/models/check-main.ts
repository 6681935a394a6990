/* The process of a self-check: see check-apart.ts. */
import { answer } from '../apart.ts';
import { checkModel } from './check.ts';

await answer(checkModel);
