import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { voiceGraph } from './build/diarization/embedding.ts';
import { segmentationGraph } from './build/diarization/segmentation.ts';
import type { CpuVariant, Graph, Weights } from './build/graph/graph.ts';
import { publishedWeights } from './build/graph/published.ts';
import { toBytes } from './build/graph/write.ts';
import { variantForCpu } from './choosing/cpu.ts';
import { kept } from './install/kept.ts';

/** The diarization models as ONNX files, in memory that threads share. */
export interface DiarizationNetworks {
  segmentation: Uint8Array<SharedArrayBuffer>;
  voice: Uint8Array<SharedArrayBuffer>;
}

const BUILDERS = new URL('build/', import.meta.url); // the sources that determine the runtime form
const FOLDERS = ['diarization', 'graph'];

const made = new Map<string, Promise<DiarizationNetworks>>();

/**
 * Both models in their runtime form for this processor, from the published ones in a folder: 0.4 s, once per process, or once for all if
 * there is a state folder `home` to keep them in.
 */
export function diarizationNetworks(folder: string, home?: string): Promise<DiarizationNetworks> {
  let networks = made.get(folder);
  if (!networks) {
    networks = make(folder, home);
    made.set(folder, networks);
    networks.catch(() => made.delete(folder));
  }
  return networks;
}

async function make(folder: string, home?: string): Promise<DiarizationNetworks> {
  const network = async (name: string, convert: (path: string) => Promise<Uint8Array>) => {
    const path = join(folder, name);
    const make = () => convert(path);
    const fitting = `${variantForCpu()}-${name}`; // hosts with different processors may share the state folder
    return shared(home ? await kept(join(home, 'models', '.networks'), fitting, await keyOf(path), make) : await make());
  };
  return {
    segmentation: await network('segmentation-3.0.onnx', segmentationNetwork),
    voice: await network('campplus-zh-en-common.onnx', voiceNetwork),
  };
}

/** Changes with the published model and the sources of the conversion. */
async function keyOf(path: string): Promise<string> {
  const { size, mtimeMs } = await stat(path);
  const hash = createHash('sha256').update(JSON.stringify([size, mtimeMs]));
  for (const folder of FOLDERS) {
    const names = (await readdir(new URL(folder, BUILDERS))).sort();
    for (const name of names) hash.update(await readFile(new URL(`${folder}/${name}`, BUILDERS)));
  }
  return hash.digest('hex').slice(0, 16);
}

function shared(bytes: Uint8Array): Uint8Array<SharedArrayBuffer> {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

/**
 * The speaker embedding model in its runtime form, converted from the published one at `path`. float32 equals the published one and is for
 * comparison.
 */
export function voiceNetwork(path: string, variant?: CpuVariant): Promise<Uint8Array> {
  return remade(path, voiceGraph, variant);
}

/** The same for the segmentation model. */
export function segmentationNetwork(path: string, variant?: CpuVariant): Promise<Uint8Array> {
  return remade(path, segmentationGraph, variant);
}

async function remade(
  path: string,
  build: (published: Weights, variant: CpuVariant) => Graph,
  variant = variantForCpu(),
): Promise<Uint8Array> {
  return toBytes(build(publishedWeights(await readFile(path)), variant));
}
