import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { checkFile } from '../derived.ts';
import { type Check, checkSchema, type Descriptor, type DeviceName, languagesOf } from '../descriptor.ts';
import { listModels, type Model } from '../store.ts';
import { CATALOGUE, type Listed, listed } from './catalogue.ts';
import { processor } from './cpu.ts';

/** Selects the model for this machine. A model's figures are those of its self-check here, if there was one. */

/** Resources available for speech recognition. */
export interface Room {
  cores: number;
  memoryBytes: number;
}

const SHIPPED_RATE = 0.097; // errors of the shipped model in English in the self-check
const LEAST_RTFX = 4; // processes a day's backlog overnight
const BASE_RTFX = 30; // of base on a slow core, all stages included
const BYTES_A_PARAMETER = 5; // per thread in 8 bits, decoder rows included: base 0.3 GB, small 1.2 GB
const SHARE = 0.8; // fraction of memory to plan with
const OTHERS_BYTES = 0.7 * 2 ** 30; // the process without its threads, ffmpeg, PostgreSQL and the API

/** Stores a self-check elsewhere if the model's folder is not writable, as for the shipped model. */
export function keepCheck(name: string, home: string, check: Check): void {
  const file = checkFile(name, home);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(check, null, 2)}\n`);
}

/** A model's latest self-check, from this machine or its import. */
export function checkOf({ name, descriptor }: Model, home: string): Check | undefined {
  try {
    return checkSchema.parse(JSON.parse(readFileSync(checkFile(name, home), 'utf8')));
  } catch {
    return descriptor?.check;
  }
}

/**
 * The latest self-check if it ran on such a processor, with the speed on as many cores as there are now: the state folder may have been copied from
 * another machine, or be shared with one.
 */
export function checkHere(model: Model, home: string): Check | undefined {
  const check = checkOf(model, home);
  if (!check?.machine.startsWith(`${processor()}, `)) return undefined;
  const cores = availableParallelism();
  return { ...check, rtfx: check.rtfx * Math.min(1, cores / (check.cores ?? cores)) };
}

/** A sentence that names the models which `auto` does not consider because they were checked on another machine, with the command; empty: none. */
export function unconsidered(models: readonly Model[], home: string): string {
  const names = models.filter((model) => checkOf(model, home) && !checkHere(model, home)).map(({ name }) => name);
  if (!names.length) return '';
  return `On the CPU, LONGHAND_MODEL=auto does not consider models checked on another machine: scripts/longhand models check ${names.join(' ')}`;
}

/** WER on English in a self-check; undefined if English was not tested. */
export function englishRate(check: Check | undefined): number | undefined {
  const english = check?.rates.find(({ language }) => language === 'en');
  return english?.words ? english.errors / english.words : undefined;
}

/**
 * The installed model that `LONGHAND_MODEL=auto` stands for: the lowest WER among those that detect languages, were checked, fit into memory and
 * have their files. On a GPU, one that runs there, float16 before float32 if they are equal; if there is none, and on the CPU, one that was fast
 * enough on this machine: speeds are those of the CPU. The shipped one if none was checked.
 */
export async function bestInstalled(home: string, { memoryBytes }: Room, device: DeviceName = 'cpu'): Promise<Model> {
  const models = (await listModels(home)).filter(({ descriptor }) => descriptor && detectsLanguages(descriptor));
  const able = (checked: typeof checkOf) =>
    models.flatMap((model) => {
      const check = checked(model, home);
      const errors = englishRate(check);
      const fits = (model.descriptor?.memory.thread ?? 0) < memoryFor(memoryBytes) && hasFiles(model);
      return check && errors !== undefined && fits ? [{ model, errors, rtfx: check.rtfx }] : [];
    });
  const there = able(checkOf).filter(({ model }) => model.descriptor!.devices.includes(device));
  const [first, ...others] = device === 'cpu' ? [] : there.sort(halvesFirst);
  if (first) return fewest(first, others).model;
  const shipped = models.find((model) => model.shipped)!;
  const fast = able(checkHere).filter(({ rtfx }) => rtfx >= LEAST_RTFX);
  return fewest({ model: shipped, errors: rateOfShipped(shipped, home) }, fast).model;
}

interface Able {
  model: Model;
  errors: number;
}

/** The first of those with the lowest error rate. */
function fewest(first: Able, others: readonly Able[]): Able {
  return others.reduce((best, next) => (next.errors < best.errors ? next : best), first);
}

/** Orders float16 before the others. */
function halvesFirst(a: Able, b: Able): number {
  return Number(b.model.variant === 'float16') - Number(a.model.variant === 'float16');
}

/** Whether all files of a model are there, of the right size: a copy may have broken off. Their content is verified by `doctor`. */
function hasFiles({ folder, files }: Model): boolean {
  return files.every(({ name, bytes }) => statSync(join(folder, name), { throwIfNoEntry: false })?.size === bytes);
}

/** Whether a model can recognise all languages that have no model of their own. */
export function detectsLanguages(descriptor: Descriptor): boolean {
  return descriptor.architecture === 'whisper' && languagesOf(descriptor).length > 1;
}

/** Unchecked, it has the error rate of a check elsewhere, which hardly depends on the machine: a model that is worse is not preferred. */
function rateOfShipped(shipped: Model, home: string): number {
  return englishRate(checkOf(shipped, home)) ?? SHIPPED_RATE;
}

/**
 * The best catalogue model that this machine is estimated to support and that is better than the installed ones, or null.
 * @param installed names in the catalogue; `now` is the lowest word error rate of these
 */
export function couldCarry({ cores, memoryBytes }: Room, installed: readonly string[]): (Listed & { rtfx: number; now: number }) | null {
  const have = new Set(installed.map((name) => listed(name)?.name ?? name));
  const best = (entries: Listed[]) => entries.sort((a, b) => a.published!.wer - b.published!.wer)[0];
  const known = CATALOGUE.filter(({ languages, published }) => languages > 1 && published);
  const now = best(known.filter(({ name }) => have.has(name)));
  const able = known.filter(
    ({ cost, parameters }) =>
      (BASE_RTFX * cores) / cost >= LEAST_RTFX && parameters * 1e6 * BYTES_A_PARAMETER * Math.min(2, cores) < memoryFor(memoryBytes),
  );
  const next = best(able);
  if (!next || !now || now.published!.wer <= next.published!.wer) return null;
  return { ...next, rtfx: (BASE_RTFX * cores) / next.cost, now: now.published!.wer };
}

/** Bytes available to threads. */
function memoryFor(memoryBytes: number): number {
  return SHARE * memoryBytes - OTHERS_BYTES;
}

/** One line that recommends a better model for this machine, with the command; empty if there is none. */
export function advice(room: Room, installed: readonly string[]): string {
  const found = couldCarry(room, installed);
  if (!found) return '';
  const { name, rtfx, published, now } = found;
  const speed = `about ${Math.round(rtfx)} times as fast as real time`;
  return `This machine supports the more accurate model ${name} (${published!.wer} % WER instead of ${now}, ${speed}): scripts/longhand models pull ${name}`;
}
