import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CATALOGUE, type Listed, listed } from './catalogue.ts';
import { type Check, checkSchema } from './descriptor.ts';
import { listModels, type Model } from './store.ts';

/** Which model for this machine. Figures of a model are those of its self-check here, where one was made. */

/** What the machine has for recognition. */
export interface Room {
  cores: number;
  memoryBytes: number;
}

const LEAST_RTFX = 4; // a backlog of a day is worked off in a night
const BASE_RTFX = 30; // of base on a core that is not fast, everything included
const BYTES_A_PARAMETER = 5; // of a thread in 8 bits, rows included: base 0.3 GB, small 1.2 GB
const SHARE = 0.8; // of the memory that is planned for …
const OTHERS_BYTES = 0.7 * 2 ** 30; // … the process without its threads, ffmpeg, PostgreSQL and the API among it

/** Keeps a check of a model where its folder is not ours to write: of the shipped one. */
export function keepCheck(name: string, home: string, check: Check): void {
  const folder = join(home, 'models', '.checks');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(check, null, 2)}\n`);
}

/** The newest check of a model that was made here, or at its import. */
export function checkOf({ name, descriptor }: Model, home: string): Check | undefined {
  try {
    return checkSchema.parse(JSON.parse(readFileSync(join(home, 'models', '.checks', `${name}.json`), 'utf8')));
  } catch {
    return descriptor?.check;
  }
}

/** Share of English words that a check found wrong; undefined where none was heard. */
export function englishRate(check: Check | undefined): number | undefined {
  const english = check?.rates.find(({ language }) => language === 'en');
  return english?.words ? english.errors / english.words : undefined;
}

/**
 * The installed model that `LONGHAND_MODEL=auto` means: the one with the fewest errors of those that were checked here, fit the memory and are
 * fast enough; the shipped one where none was checked.
 */
export async function bestInstalled(home: string, { memoryBytes }: Room): Promise<Model> {
  const models = (await listModels(home)).filter(({ kind }) => kind === 'whisper');
  const able = models.flatMap((model) => {
    const check = checkOf(model, home);
    const errors = englishRate(check);
    const fits = (model.descriptor?.memory.thread ?? 0) < memoryFor(memoryBytes);
    return check && errors !== undefined && fits && check.rtfx >= LEAST_RTFX ? [{ model, errors }] : [];
  });
  const shipped = models.find((model) => model.shipped)!;
  return able.reduce((best, next) => (next.errors < best.errors ? next : best), { model: shipped, errors: rateOfShipped(shipped, home) })
    .model;
}

/** Without a check the shipped model is only taken where no other one was checked. */
function rateOfShipped(shipped: Model, home: string): number {
  return englishRate(checkOf(shipped, home)) ?? 1;
}

/** The best listed model that a machine could carry beyond what is installed, estimated; null: there is none. */
export function couldCarry({ cores, memoryBytes }: Room, installed: readonly string[]): (Listed & { rtfx: number }) | null {
  const have = new Set(installed.map((name) => listed(name)?.name ?? name));
  const best = (entries: Listed[]) => entries.sort((a, b) => a.published!.wer - b.published!.wer)[0];
  const known = CATALOGUE.filter(({ languages, published }) => languages > 1 && published);
  const now = best(known.filter(({ name }) => have.has(name)));
  const able = known.filter(
    ({ cost, parameters }) =>
      (BASE_RTFX * cores) / cost >= LEAST_RTFX && parameters * 1e6 * BYTES_A_PARAMETER * Math.min(2, cores) < memoryFor(memoryBytes),
  );
  const next = best(able);
  if (!next || (now && now.published!.wer <= next.published!.wer)) return null;
  return { ...next, rtfx: (BASE_RTFX * cores) / next.cost };
}

/** Bytes that threads may take. */
function memoryFor(memoryBytes: number): number {
  return SHARE * memoryBytes - OTHERS_BYTES;
}

/** One line: which better model this machine could carry, and the command for it; '' when there is none. */
export function advice(room: Room, installed: readonly string[]): string {
  const found = couldCarry(room, installed);
  if (!found) return '';
  const { name, rtfx, published } = found;
  const speed = `about ${Math.round(rtfx)} times as fast as real time`;
  return `This machine could carry the more accurate model ${name} (${published!.wer} % WER where base has 12.4, ${speed}): scripts/longhand models pull ${name}`;
}
