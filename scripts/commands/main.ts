import { Command, CommanderError, Help } from 'commander';
import { VERSION } from '../../api/version.ts';
import { addAdmin } from './admin.ts';
import { addBench } from './bench.ts';
import { addDoctor } from './doctor.ts';
import { addMeasures } from './measures.ts';
import { addModels } from './models.ts';
import { addParts } from './parts.ts';
import { sentence } from './sentence.ts';
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

/** Whoever reads the output may stop, as `head` does: the program goes on to a good end. Progress and logs are not worth an end at all. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
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
