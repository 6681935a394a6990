import { Command, CommanderError } from 'commander';
import { addAdmin } from './admin.ts';
import { addBench } from './bench.ts';
import { addDoctor } from './doctor.ts';
import { addMeasures } from './measures.ts';
import { addModels } from './models.ts';
import { addParts } from './parts.ts';
import { addTranscribe } from './transcribe.ts';
import { addUp } from './up.ts';
import { addUpload } from './upload.ts';

const WRONG_USE = 2;

const program = new Command('longhand')
  .description('Self-hosted transcription: who said what, when, in which language, on your own machine.')
  .showHelpAfterError('(--help shows what is possible)')
  .exitOverride();
for (const add of [addUp, addParts, addTranscribe, addUpload, addBench, addMeasures, addModels, addDoctor, addAdmin]) add(program);
overrideExits(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : WRONG_USE;
  else {
    process.stderr.write(`${sentence(error)}\n`);
    process.exitCode = 1;
  }
}

/** Subcommands inherit nothing of this by themselves when they were made with `new Command`. */
function overrideExits(command: Command): void {
  for (const child of command.commands) {
    child.exitOverride().showHelpAfterError('(--help shows what is possible)');
    overrideExits(child);
  }
}

function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message } = error instanceof AggregateError && !error.message ? (error.errors[0] as Error) : error;
  return process.env.LOG_LEVEL === 'debug' ? (error.stack ?? message) : message;
}
