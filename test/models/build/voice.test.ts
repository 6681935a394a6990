import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { decode } from '../../../engine/audio/decode.ts';
import { embed, unit } from '../../../engine/diarization/embedding.ts';
import { float32, openSession, type Session } from '../../../engine/runtime/session.ts';
import { addFbank, centred, MELS } from '../../../models/build/diarization/fbank.ts';
import { type CpuVariant, createGraph, input, op, output } from '../../../models/build/graph/graph.ts';
import { publishedWeights } from '../../../models/build/graph/published.ts';
import { toBytes } from '../../../models/build/graph/write.ts';
import { hasByteDotProduct } from '../../../models/choosing/cpu.ts';
import { voiceNetwork } from '../../../models/networks.ts';

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const path = at('models/diarization/campplus-zh-en-common.onnx');
const published = await openSession(path);
const frontEnd = await openSession(features());
t.teardown(() => Promise.all([published.close(), frontEnd.close()]));

/** Features [B, T, 80], the input of the published model. */
function features(): Uint8Array {
  const g = createGraph(publishedWeights(readFileSync(path)), 'float32');
  const x = centred(g, addFbank(g, input(g, 'samples', 'float32', ['B', 'N'])));
  output(g, 'features', op(g, 'Transpose', [x], { perm: [0, 2, 1] }), 'float32', ['B', 'T', MELS]);
  return toBytes(g);
}

/** Output of the published model for one excerpt. */
async function asPublished(piece: Float32Array): Promise<Float32Array> {
  const { features } = await frontEnd.run({ samples: float32(piece, [1, piece.length]) });
  const { embedding } = await published.run({ fbank: features! });
  return unit(embedding!.data as Float32Array);
}

const recording = await decode(at('test/fixtures/audio/en_falcon_3spk.wav'));
const pieceAt = async (seconds: number, lasting: number) => {
  const samples = Math.round(lasting * 100) * 160 + 240;
  return (await recording.read('mix', seconds * 16000, seconds * 16000 + samples, new Float32Array(samples))).slice();
};
const pieces = await Promise.all([pieceAt(6.5, 4), pieceAt(13, 2), pieceAt(2, 1.2), pieceAt(5, 7.3)]);
await recording.close();

const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);
const open = async (t: { teardown(after: () => unknown): void }, variant?: CpuVariant): Promise<Session> => {
  const session = await openSession(await voiceNetwork(path, variant));
  t.teardown(() => session.close());
  return session;
};

t.test('speaker embeddings: the rebuilt model in float32 equals the published one', async (t) => {
  const session = await open(t, 'float32');
  for (const piece of pieces) {
    const [print] = await embed(session, [piece]);
    const likeness = cosine(print!, await asPublished(piece));
    t.ok(likeness > 0.99999, `${piece.length} samples: ${likeness}`);
  }
});

const saturates = hasByteDotProduct() ? false : 'the 8-bit products of this processor saturate: int8 models never run on it';
for (const [variant, skip] of [
  ['int8', saturates],
  ['int8-7bit', false],
] as const) {
  t.test(
    `speaker embeddings: the rebuilt model in ${variant} nearly equals the published one, and separates as well`,
    { skip },
    async (t) => {
      const session = await open(t, variant);
      const prints = await Promise.all(pieces.map(async (piece) => (await embed(session, [piece]))[0]!));
      const known = await Promise.all(pieces.map(asPublished));
      for (const [i, print] of prints.entries()) {
        const likeness = cosine(print, known[i]!);
        t.ok(likeness > 0.98, `${pieces[i]!.length} samples: ${likeness}`);
        for (let j = 0; j < i; j++) {
          const change = cosine(print, prints[j]!) - cosine(known[i]!, known[j]!);
          t.ok(Math.abs(change) < 0.04, `pieces ${j} and ${i}: ${change}`);
        }
      }
    },
  );
}

t.test('speaker embeddings: excerpts have the same embeddings in a batch as alone', async (t) => {
  const session = await open(t);
  const [a, b] = [pieces[0]!.slice(0, 16_240), pieces[1]!.slice(0, 16_240)];
  const together = await embed(session, [a, b]);
  for (const [i, piece] of [a, b].entries()) {
    const [alone] = await embed(session, [piece]);
    t.ok(cosine(alone!, together[i]!) > 0.9999, `piece ${i}`);
  }
});

t.test('publishedWeights() names the missing weight', async (t) => {
  const weights = publishedWeights(readFileSync(path));
  t.strictSame(weights.shape('head.layer1.0.shortcut.0.weight'), [32, 32, 1, 1]);
  t.throws(() => weights.float32('head.conv9.weight'), { message: /found no weight head\.conv9\.weight/ });
});
