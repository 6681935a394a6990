import { type Recording, SAMPLE_RATE } from '../../types.ts';

const PIECE_SAMPLES = 30 * SAMPLE_RATE;
const CONTEXT_SAMPLES = 0.8 * SAMPLE_RATE; // on either side: two of the longest pauses between pulses, and a pulse

/** A part of a recording, samples [from, to). */
export interface Piece {
  from: number;
  to: number;
  /** Its samples and those on either side, as far as there are any; valid until the next piece. */
  samples: Float32Array;
  /** Where they begin. */
  start: number;
}

/** Reads a channel in pieces of 30 s, each with 0.8 s before and after it. */
export async function* piecesOf(recording: Recording, channel: number | 'mix', signal?: AbortSignal): AsyncGenerator<Piece> {
  const room = new Float32Array(PIECE_SAMPLES + 2 * CONTEXT_SAMPLES);
  for (let from = 0, more = true; more; from += PIECE_SAMPLES) {
    signal?.throwIfAborted();
    const [start, to] = [Math.max(0, from - CONTEXT_SAMPLES), from + PIECE_SAMPLES];
    const samples = await recording.read(channel, start, to + CONTEXT_SAMPLES, room);
    more = samples.length > to - start;
    yield { from, to, samples, start };
  }
}
