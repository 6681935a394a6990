import { readFile } from 'node:fs/promises';
import { voiceGraph } from './build/diarization/embedding.ts';
import { segmentationGraph } from './build/diarization/segmentation.ts';
import type { CpuVariant, Graph, Weights } from './build/graph/graph.ts';
import { publishedWeights } from './build/graph/published.ts';
import { toBytes } from './build/graph/write.ts';
import { variantForCpu } from './cpu.ts';

/**
 * The speaker embedding model in its runtime form, converted from the published one at `path`: 0.4 s, once per thread. float32 equals the
 * published one and is for comparison.
 */
export function voiceNetwork(path: string, variant?: CpuVariant): Promise<Uint8Array> {
  return remade(path, voiceGraph, variant);
}

/** The same for the segmentation model; takes 0.07 s. */
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
