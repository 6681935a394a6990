import type { Change } from './change.ts';

/** Models: import, conversion, CTC and transducer families. */
export const MODELS: Change[] = [
  ['models/published/eight-bit/layers.ts', '|| file.uses.get(matrix.name) !== 1', '', ['test/models/eight-bit.test.ts']],
  ['models/published/eight-bit/layers.ts', "number('group', 1) === 1 && ", '', ['test/models/eight-bit.test.ts']],
  ['models/published/eight-bit/layers.ts', "byOutput: number('transB', 0) === 1", 'byOutput: false', ['test/models/eight-bit.test.ts']],
  [
    'models/published/eight-bit/rewrite.ts',
    "all.slice(exact.includes('first') ? 1 : 0,",
    'all.slice(0,',
    ['test/models/eight-bit.test.ts'],
  ],
  ['models/published/eight-bit/rewrite.ts', 'layer.afterSwish', 'layer.channelsFirst', ['test/models/eight-bit.test.ts']],
  ['models/published/eight-bit/rewrite.ts', 'if (additions.has(node)) return [];', '', ['test/models/eight-bit.test.ts']],
  ['models/published/eight-bit/masks.ts', " === 'length'", " !== 'shapes'", ['test/models/eight-bit.test.ts']],
  ['models/published/eight-bit/masks.ts', 'kept.get(factor) ?? factor', 'factor', ['test/models/eight-bit.test.ts']],
  ['models/published/measured.ts', 'reference && tooFarOff(measured, reference)', 'false', ['test/models/converted.test.ts']],
  ['models/fit.ts', '|| Boolean(descriptor?.converted)', '', ['test/models/converted.test.ts']],
  ['models/recipes/ladder.ts', 'const LOSS = 4e-5;', 'const LOSS = 8e-5;', ['test/models/probe.test.ts']],
  [
    'models/build/whisper/probe.ts',
    'encoderSelfAttention(g, projections, model, [])',
    'encoderSelfAttention(g, projections, model, all)',
    ['test/models/probe.test.ts'],
  ],
  ['models/restore.ts', 'shape.length === 3 && ', 'shape.length === 4 && '],
  ['models/published/layout.ts', 'if (found.size > 1)', 'if (found.size > 9)', ['test/models/published.test.ts']],
  ['models/published/layout.ts', 'delay: Math.round(T_ONE_DELAY / T_ONE_FRAME)', 'delay: 0', ['test/models/published.test.ts']],
  ['engine/asr/ctc/stream.ts', 'if (i > 0) parts.push(', 'parts.push(', ['test/engine/asr/published/published.test.ts']],
  ['engine/asr/ctc/stream.ts', 'state = found[STREAM.next]!;', '', ['test/engine/asr/published/published.test.ts']],
  ['engine/asr/ctc/stream.ts', 'samples.length / piece) + 2', 'samples.length / piece) + 1', ['test/engine/asr/ctc/stream.test.ts']],
  ['engine/asr/ctc/recogniser.ts', 'delay ? emissions.map(', 'delay < 0 ? emissions.map(', ['test/engine/asr/published/published.test.ts']],
  [
    'engine/asr/transducer/joint.ts',
    'last?.token === token && last.state === state',
    'last?.token === token',
    ['test/engine/asr/published/published.test.ts'],
  ],
  ['engine/asr/features/half-rate.ts', '2 * i - REACH', '2 * i', ['test/engine/asr/features/half-rate.test.ts']],
  ['models/nemo/pickle.ts', 'if (KNOWN.has(name)) return { name };', 'if (name) return { name };', ['test/models/nemo-files.test.ts']],
  [
    'models/build/conformer/attention.ts',
    "op(g, 'Add', [frames, before]);",
    "op(g, 'Add', [frames, frames]);",
    ['test/models/nemo.test.ts'],
  ],
];
