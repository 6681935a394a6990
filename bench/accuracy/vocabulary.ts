/**
 * Effect of a vocabulary: `node --import tsx bench/accuracy/vocabulary.ts [--named] [--save]`. Terms of bench/data/names.tsv that are written
 * right without and with the vocabulary, and the word error rate of all clips, or of those with terms only (`--named`), without one and with
 * 50 unrelated terms.
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openPool, type Pool } from '../../engine/runtime/pool.ts';
import { SHIPPED_FOLDER } from '../../models/manifest.ts';
import { countErrors } from '../errors/align.ts';
import { englishWords, unitsOf } from '../errors/normalise.ts';
import { type Clip, DATA, englishClips, foreignClips } from '../recordings/clips.ts';
import { textOf, timed, transcript } from '../speed/measure.ts';
import type { Rate } from './measures.ts';
import { rated } from './word-errors.ts';

/** Names and terms that occur in none of the clips. */
export const UNRELATED =
  `Abernathy, Adaeze Okonkwo, Agnieszka, Anselmi, Bamidele, Bjornstad, Calder Holdings, Castellanos, Chukwuma, Dagny, Delacroix,
Ekaterinburg, Eriksen, Fitzwilliam, Gallagher, Guillermo, Haraldsson, Hyderabad, Ibuprofen, Ishiguro, Jankowski, Kestrel 9, Kubernetes, Lachlan,
Lindqvist, Macpherson, Mahalingam, Metformin, Nakamura, Nguyen, Odersky, Oyelaran, Papadopoulos, PostgreSQL, Quintana, Rasmussen, Rivaroxaban,
Saoirse, Siobhan, Szymanski, Takahashi, Terraform, Thorvald, Uzodinma, Vandenberg, Wojciechowski, Xiomara, Yamamoto, Zbigniew, Zuniga`.replaceAll(
    '\n',
    ' ',
  );

interface Measured {
  clips: number;
  /** Of the terms in the clips: written right without a vocabulary, with the clip's terms, and with those among the unrelated ones. */
  terms: { clips: number; said: number; without: number; own: number; among: number };
  /** Word error rates of all clips. */
  without: Rate;
  unrelated: Rate;
  /** Unrelated terms that were written. */
  invented: number;
  /** Processing time with unrelated terms, relative to that without a vocabulary. */
  time: number;
}

/** The terms that occur in each clip, by file. */
function named(): Map<string, string> {
  const [, ...lines] = readFileSync(join(DATA, 'names.tsv'), 'utf8').trim().split('\n');
  return new Map(lines.map((line) => line.split('\t') as [string, string]));
}

const units = (text: string, { language }: Clip) => (language === 'en' ? englishWords(text) : unitsOf(text, language));

async function measure(pool: Pool, onlyNamed: boolean): Promise<Measured> {
  const names = named();
  const list = [...englishClips(), ...foreignClips()].filter(({ file }) => !onlyNamed || names.has(file));
  const run = (clip: Clip, vocabulary: string) =>
    timed(() => transcript(clip.path, pool, { language: clip.language, diarize: false, vocabulary }));
  const terms = { clips: 0, said: 0, without: 0, own: 0, among: 0 };
  const [without, unrelated] = [[], []] as [ReturnType<typeof countErrors>[], ReturnType<typeof countErrors>[]];
  let [invented, seconds, secondsWith] = [0, 0, 0];
  for (const clip of list) {
    const errors = (text: string) => countErrors(units(clip.transcript, clip), units(text, clip));
    const found = (text: string, vocabulary: string) => {
      const said = ` ${units(text, clip).join(' ')} `;
      return vocabulary.split(',').filter((term) => said.includes(` ${units(term, clip).join(' ')} `)).length;
    };
    const plain = await run(clip, '');
    const other = await run(clip, UNRELATED);
    without.push(errors(textOf(plain.result)));
    unrelated.push(errors(textOf(other.result)));
    invented += found(textOf(other.result), UNRELATED);
    seconds += plain.seconds;
    secondsWith += other.seconds;
    const own = names.get(clip.file);
    if (!own) continue;
    const texts = [plain, await run(clip, own), await run(clip, `${UNRELATED}, ${own}`)].map(({ result }) => textOf(result));
    console.error([clip.file, own, ...texts].join('\n  '));
    terms.clips++;
    terms.said += own.split(',').length;
    terms.without += found(texts[0]!, own);
    terms.own += found(texts[1]!, own);
    terms.among += found(texts[2]!, own);
  }
  return { clips: list.length, terms, without: rated(without), unrelated: rated(unrelated), invented, time: secondsWith / seconds };
}

const { values } = parseArgs({ options: { named: { type: 'boolean', default: false }, save: { type: 'boolean', default: false } } });
const pool = await openPool({
  models: { whisper: join(SHIPPED_FOLDER, 'whisper-base'), diarization: join(SHIPPED_FOLDER, 'diarization') },
  threads: 2,
});
try {
  const what = 'Whisper base in 8 bits, clips of bench/data, terms of bench/data/names.tsv';
  const text = `${JSON.stringify({ what, ...(await measure(pool, values.named)) }, null, 2)}\n`;
  process.stdout.write(text);
  if (values.save) await writeFile(new URL('../results/vocabulary.json', import.meta.url), text);
} finally {
  await pool.close();
}
