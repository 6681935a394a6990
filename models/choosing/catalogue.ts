import { PINS } from '../hub/pins.ts';
import type { Manifest } from '../manifest.ts';

/** Models with a short name for `models pull`. Others are pulled as `owner/name`; both accept `@revision`. */
export interface Listed {
  name: string;
  repository: string;
  /** SPDX expression. */
  licence: string;
  /** Millions. */
  parameters: number;
  /** Number of supported languages. */
  languages: number;
  /**
   * CPU time of recognition per hour of speech relative to base: measured with the shapes of small, medium and large-v3-turbo, of others from
   * operation counts and bytes read. With the shape of large-v3, 10 were measured, but nearly all of its decoder layers were pooled.
   */
  cost: number;
  /** Word error rate on LibriSpeech test-other, percent, and who published it. */
  published?: { wer: number; source: string };
}

const PAPER = 'Radford et al. 2022, table 8 (greedy)';
const LEADERBOARD = 'Open ASR Leaderboard';

export const CATALOGUE: readonly Listed[] = [
  openai('tiny', 39, 99, 0.5, 16.9),
  openai('tiny.en', 39, 1, 0.5, 14.6),
  openai('base', 74, 99, 1, 12.4),
  openai('base.en', 74, 1, 1, 10.2),
  openai('small', 244, 99, 2, 7.6),
  openai('small.en', 244, 1, 2, 7.4),
  openai('medium', 769, 99, 6, 5.9),
  openai('medium.en', 769, 1, 6, 6.3),
  openai('large-v2', 1550, 99, 12, 5.2),
  openai('large-v3', 1550, 100, 12, 3.91, LEADERBOARD),
  openai('large-v3-turbo', 809, 100, 7, 4.24, LEADERBOARD),
  distilled('distil-small.en', 166, 2),
  distilled('distil-medium.en', 394, 4),
  distilled('distil-large-v3', 756, 7, 5.19),
  distilled('distil-large-v3.5', 756, 7),
];

const ALIASES: Readonly<Record<string, string>> = { turbo: 'large-v3-turbo', large: 'large-v3' };

/** The entry for a short name, with or without the prefix `whisper-`. */
export function listed(name: string): Listed | undefined {
  const short = name.replace(/^whisper-/, '');
  return CATALOGUE.find((entry) => entry.name === (ALIASES[short] ?? short));
}

type Origin = Pick<Manifest, 'name' | 'source' | 'descriptor'> & { shipped: boolean };

/** The entry whose weights a model has, by their checksum or by the repository that they were pulled from: any model may have its name. */
export function builtFrom({ name, source, descriptor, shipped }: Origin): Listed | undefined {
  if (shipped) return listed(name);
  const sha256 = descriptor?.architecture === 'whisper' ? descriptor.checkpoint.sha256 : '';
  return CATALOGUE.find((entry) => PINS[entry.name]?.sha256 === sha256 || source.includes(`/${entry.repository}@`));
}

function openai(name: string, parameters: number, languages: number, cost: number, wer: number, source = PAPER): Listed {
  const repository = `openai/whisper-${name}`;
  return {
    name,
    repository,
    licence: name.startsWith('large-v3') ? 'Apache-2.0' : 'MIT',
    parameters,
    languages,
    cost,
    published: { wer, source },
  };
}

function distilled(name: string, parameters: number, cost: number, wer?: number): Listed {
  const published = wer === undefined ? undefined : { wer, source: LEADERBOARD };
  return { name, repository: `distil-whisper/${name}`, licence: 'MIT', parameters, languages: 1, cost, published };
}
