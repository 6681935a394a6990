import { execute } from './execute.ts';
import { reason } from './sentence.ts';

/**
 * The reader may stop early, as `head` does, or its disk may be full: the command still runs to its end, and succeeds in the first case.
 */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`Cannot write to standard output: ${reason(error)}\n`);
  process.exitCode = 1;
});
process.stderr.on('error', () => {});

const status = await execute(process.argv.slice(2));
if (status !== null) process.exitCode = status;
