import { readFile } from 'node:fs/promises';
import type { Graph, Weights } from './build/graph.ts';
import { publishedWeights } from './build/published.ts';
import { segmentationGraph } from './build/segmentation.ts';
import { voiceGraph } from './build/voice.ts';
import { toBytes } from './build/write.ts';
import { hasByteDotProduct } from './cpu.ts';

/**
 * The network of voice prints as it runs here, made anew from the published one at `path`: 0.4 s, once for each thread. On processors whose 8-bit
 * products saturate it is float32.
 */
export function voiceNetwork(path: string, dotProduct?: boolean): Promise<Uint8Array> {
  return remade(path, voiceGraph, dotProduct);
}

/** The same for the network that hears who speaks when: 0.07 s. */
export function segmentationNetwork(path: string, dotProduct?: boolean): Promise<Uint8Array> {
  return remade(path, segmentationGraph, dotProduct);
}

async function remade(
  path: string,
  build: (published: Weights, variant: 'int8' | 'float32') => Graph,
  dotProduct = hasByteDotProduct(),
): Promise<Uint8Array> {
  return toBytes(build(publishedWeights(await readFile(path)), dotProduct ? 'int8' : 'float32'));
}
