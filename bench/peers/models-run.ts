/* The process of one run of `modelPrograms`: see models.ts. */
import { openPool, type PoolOptions } from '../../engine/runtime/pool.ts';
import { answer } from '../apart.ts';
import { longhand } from './comparison.ts';

await answer(async (name: string, options: PoolOptions, accurate: boolean, file: string, language: string) => {
  const pool = await openPool(options);
  try {
    return await longhand(pool, name, accurate).run(file, language);
  } finally {
    await pool.close();
  }
});
