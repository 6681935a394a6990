import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Measured } from '../models/self-check.ts';
import type { CheckOptions } from './models-check.ts';

/** Message of the process of a self-check. */
export type Found = { measured: Measured } | { error: string };

/**
 * The self-check (`checkModel`) in a process of its own: the memory that a model took stays with its process and would count for the next
 * one. A model too large for this machine ends that process only. Throws an error that says so.
 */
export function checkModelApart(folder: string, options: CheckOptions): Promise<Measured> {
  return new Promise((resolve, reject) => {
    const program = fileURLToPath(new URL('./models-check-main.ts', import.meta.url));
    const child = fork(program, [folder, JSON.stringify(options)], {
      execArgv: ['--import', import.meta.resolve('tsx')],
      stdio: ['ignore', 2, 2, 'ipc'],
    });
    let found: Found | undefined;
    child.once('message', (message: Found) => {
      found = message;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (found && 'measured' in found) resolve(found.measured);
      else
        reject(
          new Error(found?.error ?? `The self-check of ${folder} ended with ${signal ?? `code ${code}`}: ${signal ? MEMORY : REASON}`),
        );
    });
  });
}

const MEMORY = 'the model probably needs more memory than is free. Close other programs, or set LONGHAND_THREADS to fewer threads';
const REASON = 'see the lines above';
