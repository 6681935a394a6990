import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The recordings included with the benchmark. Another folder needs the same layout: MANIFEST.tsv, the files beside it or in `clips`, and
 * `rttm`.
 */
export const DATA = fileURLToPath(new URL('../data/', import.meta.url));
const HEADLESS = /\.(raw|sph)$/; // headerless formats that the decoder knows

/** Recordings for tuning thresholds, or for reporting results: they share no voice and no sentence. */
export type Split = 'tuning' | 'test';

export interface Clip {
  path: string;
  file: string;
  seconds: number;
  language: string;
  speaker: string;
  transcript: string;
  category: string;
  /** Undefined in a folder without splits. */
  split?: Split;
}

/** A measurement needs recordings that the folder does not have. */
export class MissingClips extends Error {}

/** The same list. Throws `MissingClips` if it is empty; `what`: its elements. */
export function someOf<T>(list: readonly T[], what: string, folder = DATA, split?: Split): readonly T[] {
  if (list.length) return list;
  throw new MissingClips(`Cannot measure: ${folder} has no ${what}${split ? ` in the ${split} set` : ''}; see bench/data/README.md`);
}

/** Throws if a file of the folder is missing. */
export function checkClips(folder: string): void {
  const lost = clips(folder).find(({ path }) => !existsSync(path));
  if (lost) throw new Error(`Cannot use the recordings of ${folder}: MANIFEST.tsv names ${lost.file}, and there is no ${lost.path}`);
}

/** Every recording of the folder, or of one split, with its reference transcript. Recordings without a split belong to both. */
export function clips(folder = DATA, split?: Split): Clip[] {
  const manifest = join(folder, 'MANIFEST.tsv');
  if (!existsSync(manifest)) throw new Error(`Cannot use the recordings of ${folder}: there is no ${manifest}; see bench/data/README.md`);
  const [header, ...lines] = readFileSync(manifest, 'utf8').trim().split(/\r?\n/);
  const columns = header!.split('\t');
  const files = existsSync(join(folder, 'clips')) ? join(folder, 'clips') : folder;
  const all = lines.map((line) => {
    const cells = line.split('\t');
    const cell = (name: string) => cells[columns.indexOf(name)] ?? '';
    return {
      path: join(files, cell('file')),
      file: cell('file'),
      seconds: Number(cell('duration_s')),
      language: cell('language'),
      speaker: cell('speaker'),
      transcript: cell('transcript')
        .replace(/\[spk\d\]|LEFT:|RIGHT:/g, ' ')
        .trim(),
      category: cell('category'),
      split: (cell('split') || undefined) as Split | undefined,
    };
  });
  return all.filter((clip) => !HEADLESS.test(clip.file) && (split === undefined || clip.split === undefined || clip.split === split));
}

/** The English single-speaker clips of 1 to 30 s, for the word error rate. */
export function englishClips(folder = DATA, split?: Split): Clip[] {
  return clips(folder, split).filter(
    (clip) => clip.language === 'en' && clip.seconds >= 1 && clip.seconds <= 30 && clip.transcript && '15'.includes(clip.category),
  );
}

/** Clips in other languages with a full transcript. */
export function foreignClips(folder = DATA, split?: Split): Clip[] {
  return clips(folder, split).filter(
    (clip) => clip.language !== 'en' && clip.seconds >= 1 && !clip.language.includes('+') && clip.transcript && clip.category === '2',
  );
}

/**
 * Voices with clean clips of at least 2 s, for simulated conversations: speaker -> clips. FLEURS does not identify speakers, so each of its
 * clips counts as a voice.
 */
export function voices(folder = DATA, split?: Split): Map<string, Clip[]> {
  const found = new Map<string, Clip[]>();
  for (const clip of clips(folder, split)) {
    if (clip.seconds < 2 || clip.seconds > 30 || clip.category === '3' || clip.category === '4' || clip.category === '5') continue;
    const voice = clip.speaker || (clip.file.includes('fleurs') && clip.language === 'en' ? '' : clip.file);
    if (voice) found.set(voice, [...(found.get(voice) ?? []), clip]);
  }
  return found;
}

/** One reference turn, as in an RTTM file. Seconds. */
export interface TrueTurn {
  speaker: string;
  start: number;
  end: number;
}

/** Reference turns of the clips that have them. */
export function turnsOf(file: string, folder = DATA): TrueTurn[] {
  const text = readFileSync(join(folder, 'rttm', `${file.replace(/\.\w+$/, '')}.rttm`), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const field = line.split(/\s+/);
      return { speaker: field[7]!, start: Number(field[3]), end: Number(field[3]) + Number(field[4]) };
    });
}
