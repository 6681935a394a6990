import { join } from 'node:path';
import { affine } from '../graph/clipped.ts';
import { createGraph, type Graph, op, output, type Variant, type Weights } from '../graph/graph.ts';
import { type WriteOptions, type WrittenFile, weightBytes, writeModel } from '../graph/write.ts';
import { addDecoderJoint } from './decoder.ts';
import { addEncoder } from './encoder.ts';
import { folded } from './fold.ts';
import type { Conformer, Predictor } from './shape.ts';

/** A CTC head, or a predictor and joint, after the encoder. */
export type Head = { ctc: string } | { transducer: Predictor };

export interface Plan {
  encoder: Conformer;
  head: Head;
  /** Tokens, the blank included, and the durations of TDT. */
  outputs: number;
  /** Frames of the encoder in the longest window. */
  reach: number;
}

export const FILES = { ctc: ['model.onnx'], transducer: ['encoder-model.onnx', 'decoder_joint-model.onnx'] };

/**
 * Writes the ONNX files of a FastConformer model into a folder, with the inputs and outputs of NeMo's export. Holds one weight at a time. A
 * CTC head is always float32, as is the matrix before the layers: they take 4 % of the time, and in 8 bits they would cause half of the error.
 * Returns the files with their checksums.
 */
export async function buildConformer(
  checkpoint: Weights,
  folder: string,
  variant: Exclude<Variant, 'float16'>,
  { encoder, head, outputs, reach }: Plan,
  options: Omit<WriteOptions, 'onBytes'> & { onProgress?: (fraction: number) => void } = {},
): Promise<WrittenFile[]> {
  const weights = folded(checkpoint, encoder, reach);
  const first = createGraph(weights, variant);
  const frames = addEncoder(first, encoder, reach);
  const graphs: [name: string, graph: Graph][] = [];
  if ('ctc' in head) {
    output(first, 'logprobs', op(first, 'LogSoftmax', [affine(first, frames, head.ctc)], { axis: -1 }), 'float32', [1, 'S', outputs]);
    graphs.push([FILES.ctc[0]!, first]);
  } else {
    output(first, 'outputs', op(first, 'Transpose', [frames], { perm: [0, 2, 1] }), 'float32', [1, encoder.width, 'S']);
    output(first, 'encoded_lengths', op(first, 'Shape', ['outputs'], { start: 2, end: 3 }), 'int64', [1]);
    const second = createGraph(weights, 'float32');
    addDecoderJoint(second, head.transducer, encoder.width, outputs);
    graphs.push([FILES.transducer[0]!, first], [FILES.transducer[1]!, second]);
  }
  const total = graphs.reduce((sum, [, graph]) => sum + weightBytes(graph), 0);
  let done = 0;
  const onBytes = (bytes: number) => options.onProgress?.((done += bytes) / total);
  const files: WrittenFile[] = [];
  for (const [name, graph] of graphs) files.push(...(await writeModel(join(folder, name), graph, { ...options, onBytes })));
  return files;
}
