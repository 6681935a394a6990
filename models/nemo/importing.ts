import { existsSync, readdirSync, statSync } from 'node:fs';
import { copyFile, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { buildConformer, FILES } from '../build/conformer/build.ts';
import type { CpuVariant, Variant } from '../build/graph/graph.ts';
import { isInt8 } from '../build/whisper/config.ts';
import { describe } from '../checks/verify.ts';
import { variantForCpu } from '../choosing/cpu.ts';
import { importBytes, requireSpace } from '../choosing/space.ts';
import { TOKENS, writeDescriptor } from '../descriptor.ts';
import { install } from '../install/install.ts';
import { licencesIn } from '../install/licence.ts';
import type { ImportOptions } from '../install/making.ts';
import { PARTIAL } from '../install/unfinished.ts';
import { aboutOf, descriptorOf, type PublishedOptions } from '../published/importing.ts';
import { writeMeasured } from '../published/measured.ts';
import { checkNew, type Model } from '../store.ts';
import { type Archive, openArchive } from './archive.ts';
import { NemoCheckpoint } from './checkpoint.ts';
import { readConfig } from './config.ts';
import type { Decoder } from './decoders.ts';
import { type NemoPlan, planOf } from './plan.ts';

type Examinee = Parameters<typeof descriptorOf>[0];

export interface NemoOptions extends ImportOptions, Pick<PublishedOptions, 'languages'> {
  /** Runs the model once and returns the width of its output. Throws if its graphs do not load or fit. */
  examine: (folder: string, built: Examinee) => Promise<number>;
  /** Decoder of a hybrid model. Default: its transducer. */
  decoder?: Decoder;
}

const ENDING = '.nemo';

/** The .nemo file that a path names, or the only one in a folder without other models; null if there is none. */
export function nemoFile(path: string): string | null {
  if (!existsSync(path)) return null;
  if (!statSync(path).isDirectory()) return path.endsWith(ENDING) ? path : null;
  const names = readdirSync(path);
  const found = names.filter((name) => name.endsWith(ENDING));
  const others = names.some((name) => /\.(onnx|safetensors)$/.test(name));
  return found.length === 1 && !others ? join(path, found[0]!) : null;
}

/**
 * Imports a .nemo file: builds the ONNX files of its network from its weights, and runs the self-check. The model appears atomically. Throws
 * the reason if the file is rejected. Nothing in the file is executed.
 */
export async function importNemo(path: string, options: NemoOptions): Promise<Model> {
  const { name = basename(resolve(path), ENDING), home, variant = variantForCpu(), onStage } = options;
  if (variant === 'float16') throw refused(path, 'found --variant float16, wanted int8 or float32: these models run on CPUs only');
  await checkNew(name, variant, home);
  const { size } = await stat(path);
  const most = size / 2; // parameters, which have two or four bytes each
  await requireSpace(home, importBytes(most, variant, isInt8(variant)) + size);
  return install(name, home, async (partial) => {
    const scratch = `${partial}.unpacked${PARTIAL}`;
    onStage?.('reading its weights');
    try {
      const archive = await openArchive(path, scratch, options.signal).catch((cause) => {
        throw refused(path, cause);
      });
      try {
        const [checkpoint, plan] = read(path, archive, options.decoder);
        const making = { path, name, checkpoint, plan, options };
        await writeMeasured(partial, { ...options, name, variant, write: (folder, variant) => writeModel(folder, variant, making) });
      } finally {
        archive.close();
      }
    } finally {
      await rm(scratch, { force: true });
    }
  });
}

interface Making {
  path: string;
  name: string;
  checkpoint: NemoCheckpoint;
  plan: NemoPlan;
  options: NemoOptions;
}

/** Writes a model to a folder in a variant. */
async function writeModel(folder: string, variant: Variant, { path, name, checkpoint, plan, options }: Making): Promise<void> {
  const { architecture, durations, tokensPerFrame, encoder, tokens } = plan;
  const features = `nemo${encoder.melBins}` as const;
  const layout = { architecture, features, tokensPerFrame, networks: FILES[architecture], subsampling: encoder.subsampling, delay: 0 };
  const from = dirname(path);
  const about = aboutOf(from, name, { languages: [] }, options);
  const source = about.source === resolve(from) ? resolve(path) : about.source;
  options.onStage?.(`building ${variant}`);
  await mkdir(folder, { recursive: true });
  const { onProgress, signal } = options;
  const built = await buildConformer(checkpoint, folder, variant as CpuVariant, plan, { onProgress, signal });
  const width = await options.examine(folder, layout);
  if (width !== plan.outputs) throw refused(path, `found ${width} outputs, wanted ${plan.outputs}`);
  await writeFile(join(folder, TOKENS), `${JSON.stringify(tokens)}\n`);
  const texts = await copyLicences(from, folder);
  const files = [...built, ...(await Promise.all([TOKENS, ...texts].map((file) => describe(folder, file, options.signal))))];
  const rest = { ...about, name, source, variant, converted: isInt8(variant), files };
  writeDescriptor(folder, descriptorOf(layout, { tokens, blank: tokens.length - 1 }, durations, rest));
}

function read(path: string, { config, weights }: Archive, decoder?: Decoder): [NemoCheckpoint, NemoPlan] {
  try {
    const checkpoint = new NemoCheckpoint(weights);
    return [checkpoint, planOf(readConfig(config), checkpoint, decoder)];
  } catch (cause) {
    throw refused(path, cause as Error);
  }
}

/** Copies the texts of licences beside the file. Returns their names. */
async function copyLicences(from: string, to: string): Promise<string[]> {
  const names = await licencesIn(from);
  for (const name of names) await copyFile(join(from, name), join(to, name));
  return names;
}

function refused(path: string, why: string | Error): Error {
  return new Error(`Cannot import ${path}: ${typeof why === 'string' ? why : why.message}`, { cause: why });
}
