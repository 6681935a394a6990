import { type Feeds, float32, int64, type Tensor } from '../../../runtime/session.ts';
import { type Facts, FORBIDDEN } from '../model.ts';
import type { Encoded } from './batch.ts';

/** A row of a graph that encodes and decodes in one call: its window's frames and its tokens so far. */
export interface LoopRow {
  encoded: Encoded;
  tokens: readonly number[];
}

/** The inputs of `addLoop` in models/build/whisper/loop.ts. */
export function loopFeeds(rows: readonly LoopRow[], steps: number, facts: Facts): Feeds {
  const windows = [...new Set(rows.map(({ encoded }) => encoded.frames!))];
  const numbers = (of: (row: LoopRow, i: number) => number) =>
    int64(
      BigInt64Array.from(rows, (row, i) => BigInt(of(row, i))),
      [rows.length],
    );
  const history = rows.map(({ tokens }) => historyOf(tokens, facts));
  return {
    frames: stacked(windows),
    of: numbers(({ encoded }) => windows.indexOf(encoded.frames!)),
    asked: numbers((_, i) => i),
    ...prefixes(rows),
    withTimestamps: numbers((_, i) => (history[i]!.timed ? 1 : 0)),
    lastToken: numbers((_, i) => history[i]!.last),
    secondLastToken: numbers((_, i) => history[i]!.second),
    lastTimestamp: numbers((_, i) => history[i]!.latest),
    latestStart: int64(BigInt64Array.of(BigInt(facts.latestStart)), []),
    steps: int64(BigInt64Array.of(BigInt(steps)), []),
  };
}

function stacked(windows: readonly Tensor[]): Tensor {
  const [first] = windows;
  if (windows.length === 1) return first!;
  const length = (first!.data as Float32Array).length;
  const all = new Float32Array(windows.length * length);
  for (const [i, { data }] of windows.entries()) all.set(data as Float32Array, i * length);
  return float32(all, [windows.length, ...first!.dims.slice(1)]);
}

/** The tokens of all rows, padded on the left, their positions, and what each may see: those before it, but no padding. */
function prefixes(rows: readonly LoopRow[]): Feeds {
  const length = Math.max(...rows.map(({ tokens }) => tokens.length));
  const width = length + 1; // with the empty position before them
  const prefix = new BigInt64Array(rows.length * length);
  const positions = new BigInt64Array(rows.length * length);
  const mask = new Float32Array(rows.length * length * width).fill(FORBIDDEN);
  rows.forEach(({ tokens }, r) => {
    const padding = length - tokens.length;
    tokens.forEach((token, i) => {
      const at = r * length + padding + i;
      prefix[at] = BigInt(token);
      positions[at] = BigInt(i);
      mask.fill(0, at * width + padding + 1, at * width + padding + 2 + i);
    });
  });
  return {
    prefix: int64(prefix, [rows.length, length]),
    positions: int64(positions, [rows.length, length]),
    prefixMask: float32(mask, [rows.length, 1, length, width]),
  };
}

const NONE = -1;

/** The state of a row for the rules of timestamps: decoded tokens are those behind the last instruction. */
function historyOf(tokens: readonly number[], { endOfText, firstTimestamp, noTimestamps }: Facts) {
  const isInstruction = (token: number) => token >= endOfText && token < firstTimestamp;
  const decoded = tokens.slice(tokens.findLastIndex(isInstruction) + 1);
  return {
    timed: !tokens.includes(noTimestamps),
    last: decoded.at(-1) ?? NONE,
    second: decoded.at(-2) ?? NONE,
    latest: decoded.findLast((token) => token >= firstTimestamp) ?? NONE,
  };
}
