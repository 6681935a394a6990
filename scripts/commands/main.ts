import { Command, CommanderError, Help } from 'commander';
import { VERSION } from '../../api/version.ts';
import { addAdmin } from './admin.ts';
import { addBench } from './bench.ts';
import { addDoctor } from './doctor.ts';
import { addMeasures } from './measures.ts';
import { addModels } from './models.ts';
import { addParts } from './parts.ts';
import { reason, sentence } from './sentence.ts';
import { addTranscribe } from './transcribe.ts';
import { addUp } from './up.ts';
import { addUpload } from './upload.ts';

const WRONG_USE = 2;
const help = new Help();

const program = new Command('longhand')
  .description('Self-hosted transcription: who said what, when, in which language, on your own machine.')
  .version(VERSION)
  .configureHelp({ optionDescription: (option) => help.optionDescription(option) + (option.mandatory ? ' (required)' : '') })
  .showHelpAfterError('(--help shows what is possible)')
  .exitOverride();
for (const add of [addUp, addParts, addTranscribe, addUpload, addBench, addMeasures, addModels, addDoctor, addAdmin]) add(program);
overrideExits(program);

/** Whoever reads the output may stop, as `head` does, or have no room for it: the program goes on to an end, a good one in the first case. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`Cannot write to standard output: ${reason(error)}\n`);
  process.exitCode = 1;
});
process.stderr.on('error', () => {});

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
