import { mkdir, readFile, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Variant } from './build/graph/graph.ts';
import { INDEX, ONE_FILE, shardsOfIndex } from './build/whisper/safetensors.ts';
import { variantForCpu } from './cpu.ts';
import { download, type Hub, type HubFile, lookUp } from './hub.ts';
import { checkNew, importModel, type Model } from './store.ts';

export interface PullOptions {
  /** The state folder, `LONGHAND_HOME`. */
  home: string;
  /** Base URL of the hub: `HF_ENDPOINT`. */
  hub?: string;
  /** `HF_TOKEN`, for private and gated repositories. */
  token?: string;
  /** Default: the last part of the repository's name. */
  name?: string;
  /** Default: the int8 variant that is right on this processor. */
  variant?: Variant;
  /** 0 to 1 of the whole, never falls. */
  onProgress?: (fraction: number, stage: 'downloading' | 'converting') => void;
  signal?: AbortSignal;
  retryDelayMs?: number;
}

const HUB = 'https://huggingface.co';
const NEEDED = ['config.json', 'tokenizer.json'];
const WANTED = ['generation_config.json', 'tokenizer_config.json', 'preprocessor_config.json', 'README.md'];
const DOWNLOAD_SHARE = 0.9; // of the progress; the rest is the conversion

/**
 * Downloads a checkpoint from a model hub and imports it. `name` is a size of OpenAI's (`small`, `whisper-small`, `large-v3-turbo`) or any
 * repository (`owner/name`). A broken download goes on where it stopped, in this call or a later one. Throws when the hub cannot be reached, the
 * repository has no Whisper checkpoint in safetensors, or a checksum differs.
 */
export async function pullModel(name: string, options: PullOptions): Promise<Model> {
  const repository = repositoryOf(name);
  const modelName = options.name ?? repository.split('/')[1]!;
  const variant = options.variant ?? variantForCpu();
  await checkNew(modelName, variant, options.home);
  const { token, signal, retryDelayMs } = options;
  const hub: Hub = { base: options.hub ?? HUB, repository, token, signal, retryDelayMs };
  const folder = join(options.home, 'models', '.downloads', repository.replace('/', '--'));
  await mkdir(folder, { recursive: true });
  await downloadCheckpoint(hub, folder, (fraction) => options.onProgress?.(fraction * DOWNLOAD_SHARE, 'downloading'));
  const model = await importModel(folder, {
    name: modelName,
    variant,
    home: options.home,
    licence: await licenceOf(folder),
    source: `${hub.base}/${repository}`,
    onProgress: (fraction) => options.onProgress?.(DOWNLOAD_SHARE + fraction * (1 - DOWNLOAD_SHARE), 'converting'),
    signal,
  });
  await rm(folder, { recursive: true });
  return model;
}

/** `small` and `whisper-small` are OpenAI's; everything with a slash is a repository. */
export function repositoryOf(name: string): string {
  const repository = name.includes('/') ? name : `openai/whisper-${name.replace(/^whisper-/, '')}`;
  if (/^[\w.-]+\/[\w.-]+$/.test(repository) && !repository.includes('..')) return repository;
  throw new Error(`Cannot pull "${name}": wanted a size such as small or large-v3-turbo, or owner/name of a repository`);
}

async function downloadCheckpoint(hub: Hub, folder: string, onFraction: (fraction: number) => void): Promise<void> {
  const files = await listFiles(hub, folder);
  const known = ({ bytes }: HubFile) => bytes || 0; // of small ones a hub may not tell
  const total = files.reduce((sum, file) => sum + known(file), 0);
  await checkSpace(folder, total);
  let before = 0;
  let highest = 0; // a server that cannot resume starts over; the bar waits
  for (const file of files) {
    const onBytes = (bytes: number) => onFraction((highest = Math.max(highest, (before + Math.min(bytes, known(file))) / total)));
    await download(hub, file, join(folder, file.name), onBytes);
    before += known(file);
  }
}

/** Every file of the checkpoint, all of one commit. The index of a sharded checkpoint is downloaded to learn its shards. */
async function listFiles(hub: Hub, folder: string): Promise<HubFile[]> {
  const config = await lookUp(hub, NEEDED[0]!);
  if (!config) throw new Error(`Cannot find a model ${hub.repository} on ${hub.base}: it has no ${NEEDED[0]}`);
  const find = (name: string) => lookUp(hub, name, config.revision);
  const files: (HubFile | null)[] = [config];
  for (const name of [...NEEDED.slice(1), ...WANTED]) files.push(await find(name));
  for (const name of NEEDED) {
    if (!files.some((file) => file?.name === name))
      throw new Error(`Cannot use ${hub.repository}: it has no ${name}; wanted a checkpoint of transformers' Whisper`);
  }
  const single = await find(ONE_FILE);
  if (single) return [...files, single].filter((file) => file !== null);
  const index = await find(INDEX);
  if (!index) throw new Error(`Cannot use ${hub.repository}: it has no weights in safetensors (${ONE_FILE} or ${INDEX})`);
  await download(hub, index, join(folder, INDEX));
  for (const shard of shardsOfIndex(await readFile(join(folder, INDEX), 'utf8'))) {
    const file = await find(shard);
    if (!file) throw new Error(`Cannot use ${hub.repository}: its index names ${shard}, which it does not have`);
    files.push(file);
  }
  return files.filter((file) => file !== null);
}

/** The graphs take at most as much again as the checkpoint. */
async function checkSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize > 2 * bytes) return;
  const gib = (n: number) => `${(n / 2 ** 30).toFixed(1)} GiB`;
  throw new Error(
    `Cannot download to ${folder}: ${gib(bavail * bsize)} are free, wanted ${gib(2 * bytes)}; free some or move LONGHAND_HOME`,
  );
}

/** The licence that the model card states in its head. */
async function licenceOf(folder: string): Promise<string> {
  const card = await readFile(join(folder, 'README.md'), 'utf8').catch(() => '');
  return /^license:\s*(\S+)/m.exec(card)?.[1] ?? 'unknown';
}
