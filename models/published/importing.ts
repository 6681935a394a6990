import { constants, copyFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Variant } from '../build/graph/graph.ts';
import { isInt8 } from '../build/whisper/config.ts';
import { describe } from '../checks/verify.ts';
import { variantForCpu } from '../choosing/cpu.ts';
import { requireSpace } from '../choosing/space.ts';
import { type DescriptorOf, type FrameDescriptor, INTERFACE, TOKENS, writeDescriptor } from '../descriptor.ts';
import { install } from '../install/install.ts';
import { creditOf, isLicence, licencesIn } from '../install/licence.ts';
import type { ImportOptions } from '../install/making.ts';
import { SAMPLE_RATE } from '../sample-rate.ts';
import { checkNew, type Model } from '../store.ts';
import { readCard } from './card.ts';
import { isConvertible, toEightBits } from './eight-bit/rewrite.ts';
import { externalFiles } from './external.ts';
import { type Layout, layoutOf, refused } from './layout.ts';
import { writeMeasured } from './measured.ts';
import { readVocabulary, type Vocabulary, withBlank } from './vocabulary.ts';

export interface PublishedOptions extends Omit<ImportOptions, 'onProgress'> {
  /** ISO codes of its languages. Default: those of its card or its family. */
  languages?: readonly string[];
  /** Runs the model once and returns the width of its output. Throws if the files do not match. */
  examine: (folder: string, layout: Layout) => Promise<number>;
}

const WINDOW_SECONDS = 25; // these models were trained on utterances of up to about 30 s
const MOST_DURATIONS = 16; // TDT models have 5
const WORKING_BYTES = 250e6; // activations of the longest window
const EIGHT_BITS = 0.4; // size of an 8-bit model, of its float32 files: some layers stay exact
const COPIES = 1.2; // factor on the weights: onnxruntime repacks some of them

/**
 * Imports a CTC or transducer model from a folder in the layout of onnx-asr: checks that its files fit together, copies them, and runs the
 * self-check. It appears atomically. Throws the reason if the folder is rejected.
 */
export async function importPublished(from: string, options: PublishedOptions): Promise<Model> {
  const { name = basename(resolve(from)), home, onStage } = options;
  const layout = layoutOf(from);
  onStage?.('checking that its files fit together');
  const width = await options.examine(from, layout).catch((error: Error) => {
    throw refused(from, error.message);
  });
  const variant = variantOf(from, layout, options.variant);
  await checkNew(name, variant, home);
  const { vocabulary, durations } = tokensOf(from, layout, width);
  const about = aboutOf(from, name, layout, options);
  const copied = await filesOf(from, layout.networks);
  const float = layout.precision === 'float32' && isInt8(variant);
  const shares = float ? EIGHT_BITS + (options.measure && !options.quick ? 1 : 0) : 1;
  await requireSpace(home, shares * copied.reduce((sum, { bytes }) => sum + bytes, 0));
  const write = async (folder: string, variant: Variant) => {
    await mkdir(folder, { recursive: true });
    const converted = float && isInt8(variant);
    const made = converted ? await convert(from, layout, folder, variant, options) : [];
    const others = (await filesOf(from, made.length ? layout.networks.slice(1) : layout.networks)).map((file) => file.name);
    for (const file of others) await copyFile(join(from, file), join(folder, file), constants.COPYFILE_FICLONE);
    await writeFile(join(folder, TOKENS), `${JSON.stringify(vocabulary.tokens)}\n`);
    const files = await Promise.all(
      [...new Set([...others, ...made, TOKENS])].sort().map((file) => describe(folder, file, options.signal)),
    );
    writeDescriptor(folder, descriptorOf(layout, vocabulary, durations, { name, ...about, variant, converted, files }));
  };
  return install(name, home, (partial) => writeMeasured(partial, { ...options, name, variant, write }));
}

/** The precision to import. Throws if the folder cannot give it. */
function variantOf(folder: string, { precision, networks }: Layout, wanted?: Variant): Variant {
  if (wanted === 'float16')
    throw refused(folder, 'CTC and transducer models run on CPUs only, which have no use for float16; leave out --variant');
  if (precision === 'float32') return isConvertible(join(folder, networks[0]!)) ? (wanted ?? variantForCpu()) : 'float32';
  if (wanted === 'float32') throw refused(folder, 'it has 8-bit files only; download the others, or leave out --variant');
  return 'int8';
}

/**
 * Writes the 8-bit form of the CTC model or encoder. Predictor and joint stay as they are: they take 3 % of the time, and in 8 bits they would
 * change 5.3 instead of 4.9 % of a TDT model's tokens. Returns the names of the files written.
 */
async function convert(
  from: string,
  { networks: [file], architecture }: Layout,
  to: string,
  variant: Variant,
  { onStage, signal }: PublishedOptions,
): Promise<string[]> {
  onStage?.('converting it to 8 bits');
  const exact = architecture === 'ctc' ? (['first', 'last'] as const) : (['first'] as const);
  const options = { saturates: variant === 'int8-7bit', exact, signal };
  const made = await toEightBits(join(from, file!), join(to, file!), options).catch((error: Error) => {
    throw signal?.aborted ? error : refused(from, `${file}: ${error.message}`);
  });
  const outside = externalFiles(join(to, file!)).filter((name) => !made.some((one) => one.name === name)); // of operators, not weights
  for (const name of outside) await copyFile(join(from, name), join(to, name), constants.COPYFILE_FICLONE);
  return [...made.map(({ name }) => name), ...outside];
}

/** The vocabulary, and the number of durations that follow the tokens in the output of a TDT model. */
function tokensOf(folder: string, layout: Layout, width: number): { vocabulary: Vocabulary; durations: number } {
  if (layout.tokens) return { vocabulary: withBlank(folder, layout.tokens, width), durations: 0 };
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
export function aboutOf(
  folder: string,
  name: string,
  layout: Pick<Layout, 'languages'>,
  options: Pick<PublishedOptions, 'licence' | 'source' | 'languages'>,
): About {
  const card = readCard(folder);
  const origin = options.source ?? (card.base ? `https://huggingface.co/${card.base}` : undefined);
  const credit = creditOf(folder, name, { licence: options.licence, source: origin });
  const given = options.languages?.length ? options.languages : card.languages;
  const languages = given.length ? [...given] : layout.languages;
  if (!languages.length) throw refused(folder, 'nothing says which languages it recognises; give their codes, such as --languages en,de');
  const wrong = languages.find((code) => !/^[a-z]{2,3}$/.test(code));
  if (wrong !== undefined) throw refused(folder, `"${wrong}" is not an ISO code of a language, such as en or kk`);
  return { ...credit, source: origin ?? resolve(folder), languages };
}

/** The files to copy with their sizes: ONNX files, their external weights, and licences. */
async function filesOf(folder: string, networks: readonly string[]): Promise<{ name: string; bytes: number }[]> {
  const wanted = new Set(networks.flatMap((file) => [file, ...externalFiles(join(folder, file))]));
  const licences = await licencesIn(folder);
  const names = (await readdir(folder)).filter((name) => wanted.has(name) || licences.includes(name));
  return Promise.all(names.sort().map(async (name) => ({ name, bytes: (await stat(join(folder, name))).size })));
}

/** A transducer's files as its descriptor names them. */
function transducerOf([encoder, second, joint]: readonly string[]): DescriptorOf<'transducer'>['networks'] {
  return joint ? { encoder: encoder!, predictor: second!, joint } : { encoder: encoder!, decoderJoint: second! };
}

type Rest = About & Pick<FrameDescriptor, 'name' | 'files' | 'variant' | 'converted'>;

type Built = Pick<Layout, 'architecture' | 'features' | 'subsampling' | 'networks' | 'tokensPerFrame' | 'delay'>;

/** Describes a model with these files. */
export function descriptorOf(layout: Built, { tokens, blank }: Vocabulary, durations: number, rest: Rest): FrameDescriptor {
  const { features, subsampling, networks, tokensPerFrame } = layout;
  const { files, attribution, ...about } = rest;
  const bytes = files.filter(({ name }) => !isLicence(name)).reduce((sum, file) => sum + file.bytes, 0);
  const common = {
    ...{ interface: INTERFACE as typeof INTERFACE, features, subsampling, files, ...about },
    attribution: attribution && `${attribution}; the weights are ${rest.converted ? 'converted to 8 bits' : 'unchanged'}`,
    devices: ['cpu' as const],
    createdAt: new Date().toISOString(),
    window: { sampleRate: SAMPLE_RATE, steps: 100 * WINDOW_SECONDS, samplesPerStep: 160 },
    tokens: { count: tokens.length, blank },
    memory: { row: 0, thread: Math.round(COPIES * bytes + WORKING_BYTES) },
  };
  return layout.architecture === 'ctc'
    ? { architecture: 'ctc', ...common, networks: { model: networks[0]! }, delay: layout.delay }
    : { architecture: 'transducer', ...common, networks: transducerOf(networks), durations, tokensPerFrame };
}
