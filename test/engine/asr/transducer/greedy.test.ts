import t from 'tap';
import { greedy, type Joint, type Transducer } from '../../../../engine/asr/transducer/greedy.ts';

const TOKENS = 4;
const BLANK = 3;

/**
 * A joint network whose output is scripted: a token, and its duration for TDT, by frame and by the number of tokens emitted before. The
 * frame number is the only feature; the state counts tokens.
 */
function scripted(script: (frame: number, tokens: number) => [token: number, duration?: number], durations: number) {
  const fed: number[] = [];
  const joint: Joint<number> = {
    start: 0,
    run: async (frames, count, token, state) => {
      fed.push(token);
      const width = TOKENS + durations;
      const before = token === BLANK ? 0 : state + 1;
      const logits = new Float32Array(count * width);
      for (let i = 0; i < count; i++) {
        const [likeliest, duration = 0] = script(frames[i]!, before);
        logits[i * width + likeliest] = 5;
        if (durations) logits[i * width + TOKENS + duration] = 5;
      }
      return { logits, state: before };
    },
  };
  return { joint, fed };
}

async function decoded(script: Parameters<typeof scripted>[0], frames: number, settings: Partial<Transducer> = {}) {
  const transducer = { tokens: TOKENS, blank: BLANK, durations: 0, tokensPerFrame: 3, ahead: 1, ...settings };
  const { joint, fed } = scripted(script, transducer.durations);
  const encoded = Float32Array.from({ length: frames }, (_, i) => i);
  const found = await greedy(encoded, frames, joint, transducer, () => {});
  return { written: found.map(({ token, first, end }) => [token, first, end]), fed };
}

t.test('greedy() emits several tokens for one frame, and advances at a blank', async (t) => {
  const script = (frame: number, before: number): [number] => (frame === 2 && before < 2 ? [before] : [BLANK]);
  const { written, fed } = await decoded(script, 5);
  t.strictSame(written, [
    [0, 2, 3],
    [1, 2, 3],
  ]);
  t.strictSame(fed.slice(0, 6), [BLANK, BLANK, BLANK, 0, 1, 1], 'the predictor is fed the previous token, at first the blank');
});

t.test('greedy() leaves a frame after the maximum number of tokens', async (t) => {
  const { written } = await decoded(() => [1], 4, { tokensPerFrame: 2 });
  t.strictSame(
    written.map(([, first]) => first),
    [0, 0, 1, 1, 2, 2, 3, 3],
  );
});

t.test('greedy() applies durations: a token spans its frames, a blank of duration 0 advances one frame', async (t) => {
  const script = (frame: number): [number, number] =>
    [
      [1, 3],
      [BLANK, 0],
      [BLANK, 0],
      [BLANK, 0],
      [2, 0],
      [BLANK, 2],
    ][frame] as never;
  const once = (frame: number, before: number): [number, number] => (frame === 4 && before > 1 ? [BLANK, 1] : script(frame));
  const { written } = await decoded(once, 6, { durations: 4 });
  t.strictSame(written, [
    [1, 0, 3],
    [2, 4, 5],
  ]);
});

t.test('greedy() returns the same tokens however many frames it evaluates per run', async (t) => {
  let seed = 3;
  const dice = Array.from({ length: 400 }, () => (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) >> 8);
  const script = (frame: number, before: number): [number, number] => {
    const die = dice[(frame * 7 + before * 13) % dice.length]!;
    return [die % 3 ? BLANK : die % 4, die % 5];
  };
  for (const durations of [0, 5]) {
    const one = await decoded(script, 300, { durations });
    t.ok(one.written.length > 5);
    for (const ahead of [2, 4, 8, 64]) {
      const several = await decoded(script, 300, { durations, ahead });
      t.strictSame(several.written, one.written, `${ahead} at once`);
      t.ok(several.fed.length < one.fed.length, 'in fewer runs');
    }
  }
});

t.test('greedy() stops when the file is cancelled', async (t) => {
  const { joint } = scripted(() => [BLANK], 0);
  let steps = 0;
  const check = () => {
    if (++steps === 3) throw new Error('cancelled');
  };
  await t.rejects(
    greedy(new Float32Array(9), 9, joint, { tokens: TOKENS, blank: BLANK, durations: 0, tokensPerFrame: 3, ahead: 1 }, check),
    {
      message: 'cancelled',
    },
  );
  t.equal(steps, 3);
});
