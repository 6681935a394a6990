import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { isStream, openStream } from '../../../../engine/asr/ctc/stream.ts';
import { openSession } from '../../../../engine/runtime/session.ts';

const PUBLISHED = fileURLToPath(new URL('../published/', import.meta.url));
const FRAMES = 10; // of a piece

t.test('openStream() hears whole pieces and a silent one after them, and can be stopped between two', async (t) => {
  const session = await openSession(join(PUBLISHED, 't-one', 'model.onnx'));
  t.teardown(() => session.close());
  t.ok(isStream(session));
  const stream = openStream(session);
  for (const [samples, pieces] of [
    [0, 1],
    [1, 2],
    [stream.piece, 2],
    [stream.piece + 1, 3],
  ] as const) {
    const { frames, tokens, logits } = await stream.run(new Float32Array(samples), () => {});
    t.equal(frames, FRAMES * pieces, `${samples} samples`);
    t.equal(logits.length, frames * tokens);
  }
  let calls = 0;
  const check = () => {
    if (++calls === 3) throw new Error('stopped');
  };
  await t.rejects(stream.run(new Float32Array(9 * stream.piece), check), /stopped/);
});

t.test('openStream() keeps samples beyond full scale within 16 bits', async (t) => {
  const session = await openSession(join(PUBLISHED, 't-one', 'model.onnx'));
  t.teardown(() => session.close());
  const stream = openStream(session);
  const run = async (value: number) => [...(await stream.run(new Float32Array(100).fill(value), () => {})).logits];
  t.strictSame(await run(1.5), await run(1));
  t.strictSame(await run(-2), await run(-1));
});

t.test('openStream() refuses a model with other ports', async (t) => {
  const session = await openSession(join(PUBLISHED, 'ctc', 'model.onnx'));
  t.teardown(() => session.close());
  t.notOk(isStream(session));
  t.throws(() => openStream(session), /found audio_signal, length, logprobs, wanted signal, state, logprobs, state_next/);
});
