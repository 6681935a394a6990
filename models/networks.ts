import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { voiceGraph } from './build/diarization/embedding.ts';
import { segmentationGraph } from './build/diarization/segmentation.ts';
import type { CpuVariant, Graph, Weights } from './build/graph/graph.ts';
import { publishedWeights } from './build/graph/published.ts';
import { toBytes } from './build/graph/write.ts';
import { variantForCpu } from './cpu.ts';

/** The diarization models as ONNX files, in memory that threads share. */
export interface DiarizationNetworks {
  segmentation: Uint8Array<SharedArrayBuffer>;
  voice: Uint8Array<SharedArrayBuffer>;
}

const made = new Map<string, Promise<DiarizationNetworks>>();

/** Both models in their runtime form for this processor, from the published ones in a folder: 0.4 s, once per process. */
export function diarizationNetworks(folder: string): Promise<DiarizationNetworks> {
  let networks = made.get(folder);
  if (!networks) {
    networks = make(folder);
    made.set(folder, networks);
    networks.catch(() => made.delete(folder));
  }
  return networks;
}

async function make(folder: string): Promise<DiarizationNetworks> {
  const segmentation = shared(await segmentationNetwork(join(folder, 'segmentation-3.0.onnx')));
  return { segmentation, voice: shared(await voiceNetwork(join(folder, 'campplus-zh-en-common.onnx'))) };
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
