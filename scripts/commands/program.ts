import { Command, Help } from 'commander';
import { VERSION } from '../../api/version.ts';
import { addAdmin } from './admin.ts';
import { addBench } from './bench.ts';
import { addDoctor } from './doctor.ts';
import { addGpu } from './gpu.ts';
import { addMeasures } from './measures.ts';
import { addModels } from './models.ts';
import { addParts } from './parts.ts';
import { addTranscribe } from './transcribe.ts';
import { addUp } from './up.ts';
import { addUpload } from './upload.ts';

const HINT = '(run with --help for usage)';
const help = new Help();

/** The complete command line. Usage errors are thrown as CommanderError; docs/command-line.md is generated from it. */
export function openProgram(): Command {
  const program = new Command('longhand')
    .description('Self-hosted transcription with speaker diarization.')
    .version(VERSION)
    .configureHelp({ optionDescription: (option) => help.optionDescription(option) + (option.mandatory ? ' (required)' : '') });
  for (const add of [addUp, addParts, addTranscribe, addUpload, addBench, addMeasures, addModels, addGpu, addDoctor, addAdmin])
    add(program);
  overrideExits(program);
  return program;
}

/** Subcommands created with `new Command` do not inherit this. */
function overrideExits(command: Command): void {
  command.exitOverride().showHelpAfterError(HINT);
  for (const child of command.commands) overrideExits(child);
}
