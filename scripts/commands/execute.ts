import { CommanderError } from 'commander';
import { openProgram } from './program.ts';
import { sentence } from './sentence.ts';

const USAGE_ERROR = 2;

/** Runs one command and reports an error in a sentence. Resolves with the exit status, or null if the command set `process.exitCode` itself. */
export async function execute(args: readonly string[]): Promise<number | null> {
  try {
    await openProgram().parseAsync(args, { from: 'user' });
    return null;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_ERROR;
    process.stderr.write(`${sentence(error)}\n`);
    return 1;
  }
}
