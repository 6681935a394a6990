import type { Span } from '../types.ts';

/** Maps a window's time to the recording's, for a window made of several pieces. */
export interface Timeline {
  /** Length of the window, seconds. */
  readonly seconds: number;
  /** Recording time of a window time; at a joint, in the following piece. */
  original(seconds: number): number;
  /** A span of the window as a span of the recording. One that crosses a joint keeps its longer side. */
  originalSpan(span: Span): Span;
}

/** The timeline of pieces of the recording, concatenated in order. */
export function timeline(pieces: readonly Span[]): Timeline {
  const starts: number[] = [];
  let seconds = 0;
  for (const piece of pieces) {
    starts.push(seconds);
    seconds += piece.end - piece.start;
  }
  const within = (i: number, time: number) => {
    const { start, end } = pieces[i]!;
    return Math.min(end, Math.max(start, start + time - starts[i]!));
  };
  const pieceAt = (time: number) => {
    let i = starts.length - 1;
    while (i > 0 && starts[i]! > time) i--;
    return i;
  };
  return {
    seconds,
    original: (time) => within(pieceAt(time), time),
    originalSpan: ({ start, end }) => {
      let best = pieceAt(start);
      let longest = -1;
      for (let i = best; i < pieces.length && (i === best || starts[i]! < end); i++) {
        const inside = Math.min(end, starts[i]! + pieces[i]!.end - pieces[i]!.start) - Math.max(start, starts[i]!);
        if (inside > longest) [best, longest] = [i, inside];
      }
      return { start: within(best, start), end: within(best, end) };
    },
  };
}
