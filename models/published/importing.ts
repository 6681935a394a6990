import { constants, copyFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type FrameDescriptor, INTERFACE, readDescriptor, TOKENS, writeDescriptor } from '../descriptor.ts';
import type { ImportOptions } from '../importing.ts';
import { install, refused as unfit } from '../install.ts';
import { SAMPLE_RATE } from '../sample-rate.ts';
import { checkFrom, frameRefusal } from '../self-check.ts';
import { requireSpace } from '../space.ts';
import { checkNew, type Model } from '../store.ts';
import { describe } from '../verify.ts';
import { readCard } from './card.ts';
import { externalFiles } from './external.ts';
import { type Layout, layoutOf, refused } from './layout.ts';
import { readVocabulary, type Vocabulary } from './vocabulary.ts';

export interface PublishedOptions extends Omit<ImportOptions, 'onProgress'> {
  /** ISO codes of its languages. Default: those of its card or its family. */
  languages?: readonly string[];
  /** Runs the model once and returns the width of its output. Throws if the files do not match. */
  examine: (folder: string, layout: Layout) => Promise<number>;
}

const WINDOW_SECONDS = 25; // these models were trained on utterances of up to about 30 s
const MOST_DURATIONS = 16; // TDT models have 5
const WORKING_BYTES = 250e6; // activations of the longest window
const COPIES = 1.2; // factor on the weights: onnxruntime repacks some of them

/**
 * Imports a CTC or transducer model from a folder in the layout of onnx-asr: checks that its files fit together, copies them, and runs the
 * self-check. It appears atomically. Throws the reason if the folder is rejected.
 */
export async function importPublished(from: string, options: PublishedOptions): Promise<Model> {
  const { name = basename(resolve(from)), home, measure, force, onStage } = options;
  const layout = layoutOf(from, options.variant);
  await checkNew(name, layout.variant, home);
  onStage?.('checking that its files fit together');
  const width = await options.examine(from, layout).catch((error: Error) => {
    throw refused(from, error.message);
  });
  const { vocabulary, durations } = tokensOf(from, layout, width);
  const about = aboutOf(from, name, layout, options);
  const copied = await filesOf(from, layout);
  await mkdir(join(home, 'models'), { recursive: true });
  await requireSpace(
    home,
    copied.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  return install(name, home, async (partial) => {
    for (const file of copied) await copyFile(join(from, file.name), join(partial, file.name), constants.COPYFILE_FICLONE);
    await writeFile(join(partial, TOKENS), `${JSON.stringify(vocabulary.tokens)}\n`);
    const files = await Promise.all([...copied.map((file) => file.name), TOKENS].map((file) => describe(partial, file, options.signal)));
    writeDescriptor(partial, descriptorOf(layout, vocabulary, durations, { name, ...about, files }));
    if (!measure) return;
    onStage?.('checking it on recordings');
    const measured = await measure(partial);
    const why = force ? null : frameRefusal(measured);
    if (why) throw unfit(name, why);
    const check = checkFrom(measured);
    const descriptor = readDescriptor(partial);
    const thread = Math.max(descriptor.memory.thread, check.threadBytes);
    writeDescriptor(partial, { ...descriptor, memory: { ...descriptor.memory, thread }, check });
  });
}

/** The vocabulary, and the number of durations that follow the tokens in the output of a TDT model. */
function tokensOf(folder: string, layout: Layout, width: number): { vocabulary: Vocabulary; durations: number } {
  if (layout.architecture === 'ctc' || layout.durations === false)
    return { vocabulary: readVocabulary(folder, layout.vocabulary, width), durations: 0 };
  for (let durations = layout.durations ? 2 : 0; durations <= MOST_DURATIONS; durations++) {
    try {
      return { vocabulary: readVocabulary(folder, layout.vocabulary, width - durations), durations };
    } catch (error) {
      if (durations === MOST_DURATIONS) throw error;
    }
  }
  throw refused(folder, `${layout.vocabulary} does not fit the model`);
}

type About = Pick<FrameDescriptor, 'licence' | 'source' | 'attribution' | 'languages'>;

/** Licence, origin and languages, from the options or from its card. */
function aboutOf(folder: string, name: string, { features }: Layout, options: PublishedOptions): About {
  const card = readCard(folder);
  const licence = options.licence ?? card.licence ?? 'unknown';
  const origin = options.source ?? (card.base ? `https://huggingface.co/${card.base}` : null);
  const credited = /^CC-BY/i.test(licence);
  if (credited && !origin)
    throw refused(folder, `its licence ${licence} requires attribution; say who made it and where it is published, with --source`);
  const given = options.languages?.length ? options.languages : card.languages;
  const languages = given.length ? [...given] : features.startsWith('gigaam') ? ['ru'] : [];
  if (!languages.length) throw refused(folder, 'nothing says which languages it recognises; give their codes, such as --languages en,de');
  const wrong = languages.find((code) => !/^[a-z]{2,3}$/.test(code));
  if (wrong !== undefined) throw refused(folder, `"${wrong}" is not an ISO code of a language, such as en or kk`);
  const attribution = credited ? `${name}, from ${origin}, licensed under ${licence}; the weights are unchanged` : null;
  return { licence, source: origin ?? resolve(folder), attribution, languages };
}

/** The files to copy with their sizes: ONNX files, their external weights, and licences. */
async function filesOf(folder: string, { networks }: Layout): Promise<{ name: string; bytes: number }[]> {
  const wanted = new Set(networks.flatMap((file) => [file, ...externalFiles(join(folder, file))]));
  const names = (await readdir(folder)).filter((name) => wanted.has(name) || /^licen[cs]e/i.test(name));
  return Promise.all(names.sort().map(async (name) => ({ name, bytes: (await stat(join(folder, name))).size })));
}

type Rest = About & Pick<FrameDescriptor, 'name' | 'files'>;

function descriptorOf(layout: Layout, { tokens, blank }: Vocabulary, durations: number, rest: Rest): FrameDescriptor {
  const { features, subsampling, variant, networks, tokensPerFrame } = layout;
  const { files, ...about } = rest;
  const bytes = files.filter(({ name }) => !/^licen[cs]e/i.test(name)).reduce((sum, file) => sum + file.bytes, 0);
  const common = {
    ...{ interface: INTERFACE as typeof INTERFACE, variant, features, subsampling, files, ...about },
    devices: ['cpu' as const],
    createdAt: new Date().toISOString(),
    window: { sampleRate: SAMPLE_RATE, steps: 100 * WINDOW_SECONDS, samplesPerStep: 160 },
    tokens: { count: tokens.length, blank },
    memory: { row: 0, thread: Math.round(COPIES * bytes + WORKING_BYTES) },
  };
  return layout.architecture === 'ctc'
    ? { architecture: 'ctc', ...common, networks: { model: networks[0]! } }
    : { architecture: 'transducer', ...common, networks: { encoder: networks[0]!, decoderJoint: networks[1]! }, durations, tokensPerFrame };
}
