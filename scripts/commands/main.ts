import { CommanderError } from 'commander';
import { openProgram } from './program.ts';
import { reason, sentence } from './sentence.ts';

const USAGE_ERROR = 2;

/**
 * The reader may stop early, as `head` does, or its disk may be full: the command still runs to its end, and succeeds in the first case.
 */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`Cannot write to standard output: ${reason(error)}\n`);
  process.exitCode = 1;
});
process.stderr.on('error', () => {});

try {
  await openProgram().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE_ERROR;
  else {
    process.stderr.write(`${sentence(error)}\n`);
    process.exitCode = 1;
  }
}
