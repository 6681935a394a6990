import { readFile } from 'node:fs/promises';
import { publishedWeights } from './build/published.ts';
import { voiceGraph } from './build/voice.ts';
import { toBytes } from './build/write.ts';
import { hasByteDotProduct } from './cpu.ts';

/**
 * The network of voice prints as it runs here, made anew from the published one at `path`: 0.4 s, once for each thread. On processors whose 8-bit
 * products saturate it is float32.
 */
export async function voiceNetwork(path: string, dotProduct: boolean = hasByteDotProduct()): Promise<Uint8Array> {
  return toBytes(voiceGraph(publishedWeights(await readFile(path)), dotProduct ? 'int8' : 'float32'));
}
