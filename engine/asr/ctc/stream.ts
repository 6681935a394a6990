import { type Session, tensor } from '../../runtime/session.ts';

/** The ports of a model that hears a recording in pieces of equal length, as T-one is exported. Samples are integers at 8 kHz. */
const STREAM = { signal: 'signal', state: 'state', logits: 'logprobs', next: 'state_next' } as const;
const PEAK = 32767;

export interface Stream {
  /** Samples of a piece. */
  readonly piece: number;
  /**
   * Logits of samples in [-1, 1), [frames x tokens]. A piece of silence before and one after give the model what it was trained with; the
   * frames of the first are left out.
   */
  run(samples: Float32Array, check: () => void): Promise<{ logits: Float32Array; frames: number; tokens: number }>;
}

/** Whether a network hears recordings in pieces. */
export function isStream({ inputs }: Pick<Session, 'inputs'>): boolean {
  return inputs.includes(STREAM.signal) && inputs.includes(STREAM.state);
}

/** Throws if the network's ports or sizes are others. */
export function openStream(session: Session): Stream {
  const [piece, size] = [session.dimensions(STREAM.signal)[1], session.dimensions(STREAM.state)[1]];
  const missing = Object.values(STREAM).filter((name) => ![...session.inputs, ...session.outputs].includes(name));
  if (missing.length || typeof piece !== 'number' || typeof size !== 'number')
    throw new Error(
      `Cannot use the model: found ${[...session.inputs, ...session.outputs].join(', ')}, wanted ${Object.values(STREAM).join(', ')}, the first two with fixed sizes`,
    );
  return {
    piece,
    run: async (samples, check) => {
      const pieces = Math.ceil(samples.length / piece) + 2;
      const parts: Float32Array[] = [];
      let state = tensor('float16', new Uint16Array(size), [1, size]);
      let dims: readonly number[] = [];
      for (let i = 0; i < pieces; i++) {
        check();
        const values = new Int32Array(piece);
        const part = i === 0 ? values : samples.subarray((i - 1) * piece, i * piece);
        for (let k = 0; i > 0 && k < part.length; k++) values[k] = Math.trunc(Math.fround(Math.max(-1, Math.min(1, part[k]!)) * PEAK));
        const feeds = { [STREAM.signal]: tensor('int32', values, [1, piece, 1]), [STREAM.state]: state };
        const found = await session.run(feeds, { [STREAM.logits]: null, [STREAM.next]: null });
        state = found[STREAM.next]!;
        dims = found[STREAM.logits]!.dims;
        if (i > 0) parts.push(found[STREAM.logits]!.data as Float32Array);
      }
      const tokens = dims[2]!;
      const logits = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
      let at = 0;
      for (const part of parts) {
        logits.set(part, at);
        at += part.length;
      }
      return { logits, frames: logits.length / tokens, tokens };
    },
  };
}
