import { cast, constant, type Graph, index, ints, op, scalar } from '../graph/graph.ts';
import { ELEMENT, type Port } from '../graph/onnx.ts';
import type { ModelDimensions } from './config.ts';

/** A greedy choice inside a loop. */
export interface Chosen {
  /** The token of each row, int64 [B]. */
  token: string;
  /** 1 for rows that have ended, int64 [B]. */
  ended: string;
  /** Facts about the choices before it, int64 [B] each. */
  carried: (Port & { next: string })[];
}

const FORBIDDEN = -60_000; // logit

/**
 * Adds the choice of the next token by Whisper's rules of timestamps, as `allowed` and `greedy` in engine/asr/whisper make it without
 * corrections: the engine compares every choice with its own and continues from its own where they differ. Reads `special`, `textId` and
 * `textMax` of the decoder and, carried from step to step: `timed`, 0 without timestamps; the tokens chosen last and before it, and the
 * last timestamp, each -1 if there is none. `latestStart` int64 [] is the latest first timestamp as an offset.
 */
export function chooseGreedily(g: Graph, { endOfText, firstTimestamp, vocabulary }: ModelDimensions): Chosen {
  const id = (value: number) => index(g, value);
  const not = (x: string) => op(g, 'Not', [x]);
  const and = (x: string, y: string) => op(g, 'And', [x, y]);
  const or = (x: string, y: string) => op(g, 'Or', [x, y]);
  const isTimestamp = (x: string) => not(op(g, 'Less', [x, id(firstTimestamp)]));
  const pick = (condition: string, x: string, y: string) => op(g, 'Where', [condition, x, y]);

  const timed = op(g, 'Less', [id(0), 'timed']);
  const start = and(timed, op(g, 'Less', ['last', id(0)]));
  const closed = isTimestamp('last');
  const before = or(op(g, 'Less', ['second', id(0)]), isTimestamp('second'));
  const pair = and(closed, before);
  const same = and(closed, not(before)); // the timestamp that ends a segment may be followed by an equal one
  const after = pick(op(g, 'Less', ['latest', id(0)]), id(firstTimestamp), pick(same, 'latest', op(g, 'Add', ['latest', id(1)])));
  const from = pick(start, id(firstTimestamp), after);
  const latestStart = op(g, 'Add', ['latestStart', id(firstTimestamp + 1)]);
  const to = pick(start, latestStart, pick(or(pair, not(timed)), id(0), id(vocabulary)));

  const ids = constant(g, 'int64', [vocabulary - endOfText], () =>
    BigInt64Array.from(Array(vocabulary - endOfText).keys(), (offset) => BigInt(endOfText + offset)),
  );
  const column = (x: string) => op(g, 'Unsqueeze', [x, ints(g, 1)]);
  const inside = and(not(op(g, 'Less', [ids, column(from)])), op(g, 'Less', [ids, column(to)]));
  const times = pick(inside, 'special', scalar(g, FORBIDDEN));
  const time = op(g, 'Add', [op(g, 'ArgMax', [times], { axis: 1, keepdims: 0 }), id(endOfText)]);
  const together = op(g, 'ReduceLogSumExp', [times, ints(g, 1)], { keepdims: 0 });

  const textAllowed = or(not(timed), and(not(start), or(not(closed), before)));
  const text = pick(textAllowed, 'textMax', scalar(g, FORBIDDEN));
  const end = pick(start, scalar(g, FORBIDDEN), op(g, 'Gather', ['special', id(0)], { axis: 1 }));
  const isTimed = op(g, 'Less', [op(g, 'Max', [text, end]), together]);
  const token = pick(isTimed, time, pick(op(g, 'Less', [text, end]), id(endOfText), 'textId'));
  const ended = op(g, 'Max', ['ended', cast(g, op(g, 'Equal', [token, id(endOfText)]), ELEMENT.int64)]);
  const carry = (name: string, next: string) => ({ name, element: 'int64' as const, dims: ['B'], next });
  const carried = [
    carry('timed', op(g, 'Identity', ['timed'])),
    carry('last', op(g, 'Identity', [token])),
    carry('second', op(g, 'Identity', ['last'])),
    carry('latest', pick(isTimestamp(token), token, 'latest')),
    carry('ended', ended),
  ];
  return { token, ended, carried };
}
