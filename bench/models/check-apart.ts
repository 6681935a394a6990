import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Measured } from '../../models/checks/self-check.ts';
import { apart } from '../apart.ts';
import type { CheckOptions } from './check.ts';

const RETRIES = 5; // while the process, which is told to end, still writes

/**
 * The self-check (`checkModel`) in a process of its own, which `signal` ends. Its recordings, in a folder of `temporary`, are removed however it
 * ends.
 */
export async function checkModelApart(
  folder: string,
  options: CheckOptions,
  signal?: AbortSignal,
  temporary = tmpdir(),
): Promise<Measured> {
  const scratch = await mkdtemp(join(temporary, 'longhand-check-'));
  try {
    return await apart(new URL('check-main.ts', import.meta.url), [folder, scratch, options], `The self-check of ${folder}`, signal);
  } finally {
    await rm(scratch, { recursive: true, force: true, maxRetries: RETRIES });
  }
}
