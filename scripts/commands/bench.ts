import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Part } from '../../bench/accuracy.ts';
import type { Split } from '../../bench/clips.ts';
import { PEERS } from '../../bench/peers.ts';
import { loadSettings } from './environment.ts';

const PARTS: Part[] = [
  'clips',
  'joined',
  'languages',
  'conversations',
  'rooms',
  'turns',
  'people',
  'interjections',
  'calls',
  'noise',
  'quiet',
];

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
  load?: number;
  meanMinutes: number;
  save?: string;
  compare?: string;
  chart?: string;
  json?: boolean;
}

/** `bench`: what this machine can do, and what a given load needs. */
export function addBench(program: Command): void {
  program
    .command('bench')
    .description('measure this machine, and say what a load needs')
    .addOption(new Option('--minutes <minutes>', 'length of the measured recordings').argParser(positive).default(10))
    .addOption(new Option('--files <count>', 'most files at once').argParser(positive).default(4))
    .addOption(
      new Option('--accuracy [part...]', 'also word error rate and diarization error rate on bench/data; or only parts of that').choices(
        PARTS,
      ),
    )
    .option('--coverage [language...]', 'also how much of the speech of many languages lies under words (wants espeak-ng); or of these')
    .option('--no-speed', 'leave speed out')
    .option('--accurate', 'with beams')
    .option('--profile', 'also in which operators of the networks the time goes')
    .option('--data <folder>', 'clips to measure accuracy with: MANIFEST.tsv as in bench/data, the files beside it, rttm/')
    .addOption(
      new Option('--set <name>', 'recordings that accuracy is measured on: those kept aside, or those that thresholds were chosen on')
        .choices(['test', 'tuning'])
        .default('test'),
    )
    .addOption(new Option('--seed <number>', 'of the orders, conversations and rooms that are made').argParser(positive).default(1))
    .addOption(new Option('--peer <name...>', 'the same audio through another program, where it is installed').choices(PEERS))
    .addOption(new Option('--load <hours>', 'what to recommend for, as 200h/day').argParser(hoursPerDay).conflicts('speed'))
    .addOption(new Option('--mean-minutes <minutes>', 'mean length of a recording of that load').argParser(positive).default(10))
    .option('--save <file>', 'write the figures as JSON')
    .option('--compare <file>', 'against figures saved before')
    .option('--chart <file>', 'draw them as SVG')
    .option('--json', 'print JSON')
    .action(async ({ json, peer = [], ...options }: Options) => {
      const settings = loadSettings();
      const [{ bench }, { localModels, openLocalPool }] = await Promise.all([import('../../bench/bench.ts'), import('./pool.ts')]);
      const pool = await openLocalPool(settings);
      try {
        const { report, text } = await bench(pool, {
          ...options,
          split: options.set,
          accuracy: options.accuracy ?? false,
          accurate: options.accurate ?? settings.LONGHAND_DECODING === 'accurate',
          peers: peer,
          profile: options.profile ? await localModels(settings) : undefined,
          model: settings.LONGHAND_MODEL,
          log: (line) => void process.stderr.write(`${line}\n`),
        });
        process.stdout.write(json ? `${JSON.stringify(report)}\n` : `${text}\n`);
      } finally {
        await pool.close();
      }
    });
}

function hoursPerDay(text: string): number {
  const hours = Number(/^(\d+(?:\.\d+)?)\s*h\/day$/.exec(text.trim())?.[1]);
  if (!(hours > 0)) throw new InvalidArgumentError('It must be hours of audio a day, as in 200h/day.');
  return hours;
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}
