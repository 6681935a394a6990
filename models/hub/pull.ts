import { mkdir, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig } from '../build/whisper/config.ts';
import { INDEX, ONE_FILE, shardsOfIndex } from '../build/whisper/safetensors.ts';
import { parametersOf } from '../build/whisper/shapes.ts';
import { PARTS, TOKENIZER } from '../build/whisper/tokenizer.ts';
import { LORA } from '../checks/other-forms.ts';
import { CATALOGUE, type Listed, listed } from '../choosing/catalogue.ts';
import { variantForCpu } from '../choosing/cpu.ts';
import { importBytes, requireSpace } from '../choosing/space.ts';
import { claimed } from '../install/claim.ts';
import { importModel } from '../install/importing.ts';
import type { ImportOptions } from '../install/making.ts';
import { checkNew, claimOf, downloadFolder, type Model } from '../store.ts';
import { bytesHere, download, type Hub, type HubFile, lookUp } from './hub.ts';
import { PINS, type Pin } from './pins.ts';

export interface PullOptions extends Omit<ImportOptions, 'onProgress' | 'licence' | 'source'> {
  /** Base URL of the hub: `HF_ENDPOINT`. */
  hub?: string;
  /** `HF_TOKEN`, for private and gated repositories. */
  token?: string;
  /** 0 to 1 of the whole, never decreases. */
  onProgress?: (fraction: number, stage: 'downloading' | 'converting') => void;
  retryDelayMs?: number;
}

const HUB = 'https://huggingface.co';
const CONFIG = 'config.json';
const WANTED = ['generation_config.json', 'tokenizer_config.json', 'preprocessor_config.json', 'README.md'];
const DOWNLOAD_SHARE = 0.9; // of the progress; the rest is conversion

/**
 * Downloads a checkpoint from a model hub and imports it. `name` is a short name of the catalogue (`small`, `large-v3-turbo`) or any
 * repository (`owner/name`). An interrupted download is resumed, in this call or a later one. Throws if the hub cannot be reached, the
 * repository has no Whisper checkpoint in safetensors, a checksum differs, the hub has other weights than `pins.ts` names, or another process
 * is pulling the repository.
 */
export async function pullModel(name: string, options: PullOptions): Promise<Model> {
  const { repository, revision, entry, pin } = repositoryOf(name);
  const modelName = options.name ?? repository.split('/')[1]!;
  const variant = options.variant ?? variantForCpu();
  await checkNew(modelName, variant, options.home);
  const { signal, retryDelayMs } = options;
  const hub: Hub = { base: baseOf(options.hub), repository, token: tokenOf(options.token), signal, retryDelayMs };
  const folder = downloadFolder(repository, options.home);
  const into = { ...options, name: modelName, variant, licence: entry?.licence };
  return claimed(claimOf(folder), `pull ${repository}`, () => pulled(hub, { revision, pin }, folder, into));
}

/** Downloads a checkpoint into a folder, imports it and removes the folder. */
async function pulled(hub: Hub, version: Version, folder: string, options: PullOptions & Pick<ImportOptions, 'licence'>): Promise<Model> {
  const { measure, quick, variant = variantForCpu() } = options;
  await mkdir(folder, { recursive: true });
  const commit = await downloadCheckpoint(
    hub,
    version,
    options.home,
    folder,
    (parameters) => importBytes(parameters, variant, Boolean(measure) && !quick),
    (fraction) => options.onProgress?.(fraction * DOWNLOAD_SHARE, 'downloading'),
  ).catch(async (error) => {
    await rmdir(folder).catch(() => {}); // if nothing was downloaded
    throw error;
  });
  const model = await importModel(folder, {
    ...options,
    source: `${hub.base}/${hub.repository}@${commit}`,
    onProgress: (fraction) => options.onProgress?.(DOWNLOAD_SHARE + fraction * (1 - DOWNLOAD_SHARE), 'converting'),
  }).catch((error) => {
    options.onStage?.(`the download stays in ${folder} for another attempt; "longhand models remove ${hub.repository}" deletes it`);
    throw error;
  });
  await rm(folder, { recursive: true });
  return model;
}

/** The hub's base URL. An empty setting is none. */
function baseOf(given?: string): string {
  if (!given) return HUB;
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url?.username || url?.password)
    throw new Error(`Cannot use HF_ENDPOINT: its URL has a user name or password; set HF_TOKEN instead, which is sent to ${url.host}`);
  if (url && /^https?:$/.test(url.protocol)) return given.replace(/\/+$/, '');
  throw new Error(`Cannot use HF_ENDPOINT=${given}: expected the URL of a model hub, such as ${HUB}`);
}

/** The token without the spaces and line breaks around it, as in a file of it; none if it is empty. The error does not repeat it. */
function tokenOf(given = ''): string | undefined {
  const token = given.trim();
  if (/^[\x21-\x7e]*$/.test(token)) return token || undefined;
  throw new Error('Cannot use HF_TOKEN: it has a space, a line break or another character that no token has; copy it again');
}

type Version = Pick<Wanted, 'revision' | 'pin'>;

interface Wanted {
  repository: string;
  revision: string;
  /** For short names of the catalogue. */
  entry?: Listed;
  /** For those without `@revision` that have one. */
  pin?: Pin;
}

/** Resolves a short name of the catalogue or `owner/name`; both accept `@revision`. */
export function repositoryOf(name: string): Wanted {
  const [plain = '', asked, ...more] = name.split('@');
  const entry = listed(plain);
  const pin = entry && asked === undefined ? PINS[entry.name] : undefined;
  const revision = asked ?? pin?.revision ?? 'main';
  const repository = entry?.repository ?? (plain.includes('/') ? plain : `openai/whisper-${plain.replace(/^whisper-/, '')}`);
  const safe = (text: string) => /^[\w.-]+$/.test(text) && !text.includes('..');
  const parts = repository.split('/');
  if (parts.length === 2 && parts.every(safe) && revision.split('/').every(safe) && !more.length)
    return { repository, revision, entry, pin };
  const names = CATALOGUE.map((entry) => entry.name).join(', ');
  throw new Error(`Cannot pull "${name}": expected one of ${names}, or owner/name of a repository, each with @revision if wanted`);
}

/** Returns the commit of the files. `building`: bytes that the build will write. */
async function downloadCheckpoint(
  hub: Hub,
  version: Version,
  home: string,
  folder: string,
  building: (parameters: number) => number,
  onFraction: (fraction: number) => void,
): Promise<string> {
  const files = await listFiles(hub, version, folder);
  await download(hub, files[0]!, join(folder, CONFIG));
  const config = readConfig(folder); // another architecture is refused before its weights are downloaded
  const known = ({ bytes }: HubFile) => bytes || 0; // a hub may omit it for small files
  const total = sumOf(files.map(known));
  const here = await Promise.all(files.map((file) => bytesHere(file, join(folder, file.name))));
  await requireSpace(home, total - sumOf(here) + building(parametersOf(config)));
  let before = 0;
  let highest = 0; // if a server cannot resume, the progress bar waits
  for (const file of files) {
    const onBytes = (bytes: number) => onFraction((highest = Math.max(highest, (before + Math.min(bytes, known(file))) / total)));
    await download(hub, file, join(folder, file.name), onBytes);
    before += known(file);
  }
  await removeOthers(folder, files);
  return files[0]!.revision;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** Removes what an earlier attempt left of another version, which would be imported as well. */
async function removeOthers(folder: string, files: readonly HubFile[]): Promise<void> {
  const others = (await readdir(folder)).filter((name) => !files.some((file) => file.name === name));
  for (const name of others) await rm(join(folder, name), { recursive: true });
}

/** Lists every file of the checkpoint, all of one commit. Downloads the index of a sharded checkpoint to find its shards. */
async function listFiles(hub: Hub, { revision, pin }: Version, folder: string): Promise<HubFile[]> {
  const config = await lookUp(hub, CONFIG, revision);
  if (!config) {
    const isAdapter = (await lookUp(hub, LORA.file, revision)) !== null;
    if (isAdapter) throw new Error(`Cannot use ${hub.repository}: ${LORA.sentence}`);
    throw new Error(`Cannot find a model ${hub.repository} on ${hub.base}: it has no ${CONFIG} at ${revision}`);
  }
  const find = (name: string) => lookUp(hub, name, config.revision);
  const tokenizer = await find(TOKENIZER);
  const files: (HubFile | null)[] = [config, tokenizer];
  for (const name of [...(tokenizer ? [] : [...PARTS.needed, ...PARTS.others]), ...WANTED]) files.push(await find(name));
  if (!tokenizer && !PARTS.needed.every((name) => files.some((file) => file?.name === name)))
    throw new Error(
      `Cannot use ${hub.repository}: it has no ${TOKENIZER}, nor ${PARTS.needed.join(' and ')}; expected a checkpoint of transformers' Whisper`,
    );
  const single = await find(ONE_FILE);
  if (single) return [...files, pin ? pinned(hub, single, pin) : single].filter((file) => file !== null);
  if (pin) throw new Error(`Cannot use ${hub.repository} of ${hub.base}: it has no ${ONE_FILE}, whose checksum is known`);
  const index = await find(INDEX);
  if (!index) throw new Error(`Cannot use ${hub.repository}: it has no weights in safetensors (${ONE_FILE} or ${INDEX})`);
  files.push(index);
  await download(hub, index, join(folder, INDEX));
  for (const shard of shardsOfIndex(await readFile(join(folder, INDEX), 'utf8'))) {
    const file = await find(shard);
    if (!file) throw new Error(`Cannot use ${hub.repository}: its index names ${shard}, which it does not have`);
    files.push(file);
  }
  return files.filter((file) => file !== null);
}

/** The file, to be verified by the known checksum. Throws if the hub reports another one of this kind. */
function pinned(hub: Hub, file: HubFile, { sha256 }: Pin): HubFile {
  if (file.checksum.length !== sha256.length || file.checksum === sha256) return { ...file, checksum: sha256 };
  const found = `${hub.base} reports the checksum ${file.checksum}, wanted ${sha256}`;
  throw new Error(
    `Cannot use ${file.name} of ${hub.repository}: ${found}; to take it all the same, pull ${hub.repository}@${file.revision}`,
  );
}
