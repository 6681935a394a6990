import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Part } from '../../bench/accuracy/accuracy.ts';
import { PEERS } from '../../bench/peers/peers.ts';
import type { Split } from '../../bench/recordings/clips.ts';
import { loadSettings } from './environment.ts';
import { hoursPerDay } from './parsers.ts';

const PARTS: Part[] = [
  'clips',
  'joined',
  'languages',
  'changes',
  'conversations',
  'rooms',
  'turns',
  'people',
  'interjections',
  'calls',
  'noise',
  'quiet',
];

const FIXED: Part[] = ['clips', 'languages', 'turns', 'quiet']; // stored recordings, the same with every seed

interface Options {
  minutes: number;
  files: number;
  accuracy?: true | Part[];
  coverage?: true | string[];
  speed: boolean;
  accurate?: boolean;
  profile?: boolean;
  data?: string;
  set: Split;
  seed: number;
  peer?: (typeof PEERS)[number][];
  models?: true | string[];
  load?: number;
  meanMinutes: number;
  save?: string;
  compare?: string;
  chart?: string;
  json?: boolean;
}

/** `bench`: speed and accuracy on this machine, and the number of machines for a load. */
export function addBench(program: Command): void {
  program
    .command('bench')
    .description('benchmark this machine and size a deployment')
    .addOption(new Option('--minutes <minutes>', 'length of the test recording').argParser(positive).default(10))
    .addOption(new Option('--files <count>', 'maximum number of files at once').argParser(positive).default(4))
    .addOption(new Option('--accuracy [part...]', 'also measure WER and DER on bench/data, or the given parts of it').choices(PARTS))
    .option('--coverage [language...]', 'also measure speech coverage in many languages (requires espeak-ng), or in the given ones')
    .option('--no-speed', 'skip speed')
    .option('--accurate', 'use beam search')
    .option('--profile', 'also profile the operators of the models')
    .option('--data <folder>', 'your own test data: MANIFEST.tsv as in bench/data, audio files, rttm/')
    .addOption(
      new Option('--set <name>', 'recordings for accuracy: test (never used for tuning) or tuning')
        .choices(['test', 'tuning'])
        .default('test'),
    )
    .addOption(
      new Option('--seed <number>', 'seed for everything random: orders, conversations, rooms, noises').argParser(positive).default(1),
    )
    .addOption(new Option('--peer <name...>', 'also run another program on the same audio, if installed').choices(PEERS))
    .option('--models [name...]', 'also compare the installed models, or the given ones, in speed and WER of English speech')
    .addOption(new Option('--load <hours>', 'load to size for, such as 200h/day').argParser(hoursPerDay).conflicts('speed'))
    .addOption(new Option('--mean-minutes <minutes>', 'mean recording length of that load').argParser(positive).default(10))
    .option('--save <file>', 'save the figures as JSON')
    .option('--compare <file>', 'compare with saved figures')
    .option('--chart <file>', 'draw a chart as SVG; with --models RTFx against WER')
    .option('--json', 'print JSON')
    .action(async ({ json, peer = [], models, ...options }: Options, command: Command) => {
      refuseUnused(command);
      const settings = loadSettings();
      const [{ bench }, { installedModels, localModels, openLocalPool }] = await Promise.all([
        import('../../bench/bench.ts'),
        import('./pool.ts'),
      ]);
      const pool = await openLocalPool(settings);
      try {
        const { report, text, problems } = await bench(pool, {
          ...options,
          split: options.set,
          accuracy: options.accuracy ?? false,
          accurate: options.accurate ?? settings.LONGHAND_DECODING === 'accurate',
          peers: peer,
          models: models && (await installedModels(settings, models === true ? null : models)),
          profile: options.profile ? (await localModels(settings)).models : undefined,
          model: settings.LONGHAND_MODEL,
          log: (line) => void process.stderr.write(`${line}\n`),
        });
        process.stdout.write(json ? `${JSON.stringify(report)}\n` : `${text}\n`);
        for (const problem of problems) process.stderr.write(`${problem}\n`);
        if (problems.length) process.exitCode = 1;
      } finally {
        await pool.close();
      }
    });
}

/** Options that only change a measurement: one of the others must request it. */
const CHANGES = {
  '--data': ['accuracy', 'peer', 'models'],
  '--set': ['accuracy', 'peer', 'models'],
  '--seed': ['accuracy', 'peer', 'models'],
  '--mean-minutes': ['load'],
} as const;

/** Exits if an option would be ignored. */
function refuseUnused(command: Command): void {
  const given = (name: string) => command.getOptionValueSource(name) === 'cli';
  for (const [flag, measurements] of Object.entries(CHANGES)) {
    const option = command.options.find(({ long }) => long === flag)!;
    if (given(option.attributeName()) && !measurements.some(given))
      command.error(`error: option '${option.flags}' needs ${measurements.map((name) => `--${name}`).join(' or ')}`);
  }
  const parts = command.getOptionValue('accuracy');
  const fixed = Array.isArray(parts) && parts.every((part) => FIXED.includes(part)) && !given('peer') && !given('models');
  if (given('seed') && fixed) command.error(`error: option '--seed <number>' changes nothing in --accuracy ${parts.join(' ')}`);
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}
