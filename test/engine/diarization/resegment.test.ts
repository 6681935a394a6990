import t from 'tap';
import { EMBEDDING_SIZE } from '../../../engine/diarization/campplus.ts';
import type { Excerpt } from '../../../engine/diarization/excerpts.ts';
import { splitAtChanges } from '../../../engine/diarization/resegment.ts';

/** A unit vector with the given cosine similarities to both voices. */
function embedding(ann: number, bob: number): Float32Array {
  const rest = Math.sqrt(Math.max(0, 1 - ann * ann - bob * bob));
  return Float32Array.from({ length: EMBEDDING_SIZE }, (_, k) => [ann, bob, rest][k] ?? 0);
}

const [ANN, BOB] = [embedding(1, 0), embedding(0, 1)];
const ALONE = [
  { track: 0, first: 0, end: 150 },
  { track: 0, first: 200, end: 350 },
];
const BOTH = { track: 1, first: 400, end: 630 };
const CHANGE = 510; // the frame from which Bob speaks in it

/** Stub of the embedding model: an embedding of the speaker at the middle of each excerpt. Records the excerpts. */
function embedder() {
  const embedded: Excerpt[] = [];
  const embed = async (excerpts: Excerpt[]) => {
    embedded.push(...excerpts);
    return excerpts.map(({ first, end }) => ((first + end) / 2 < CHANGE ? embedding(0.8, 0.3) : embedding(0.3, 0.8)));
  };
  return { embedded, embed };
}

t.test('splitAtChanges() cuts an excerpt where the speaker changes, to within 0.25 s, in order', async (t) => {
  const { embed } = embedder();
  const after = { track: 2, first: 700, end: 850 };
  const embeddings = [ANN, BOB, embedding(0.6, 0.5), ANN];
  const [parts, own] = await splitAtChanges([...ALONE, BOTH, after], embeddings, [ANN, BOB], embed);
  t.equal(parts.length, 5);
  t.strictSame([parts[0], parts[1], parts[4]], [...ALONE, after]);
  const [, , first, second] = parts;
  t.strictSame([first!.track, first!.first, second!.track, second!.end], [BOTH.track, BOTH.first, BOTH.track, BOTH.end]);
  t.equal(first!.end, second!.first, 'no gap between the parts');
  t.ok(Math.abs(first!.end - CHANGE) <= 15, `${first!.end}`);
  t.ok(own[2]![0]! > 0.79 && own[3]![1]! > 0.79, 'each with its own embedding');
});

t.test('splitAtChanges() keeps an ambiguous excerpt of one speaker', async (t) => {
  const { embedded, embed } = embedder();
  const excerpt = { ...BOTH, first: CHANGE - 130, end: CHANGE };
  const embeddings = [ANN, BOB, embedding(0.6, 0.5)];
  const [parts, own] = await splitAtChanges([...ALONE, excerpt], embeddings, [ANN, BOB], embed);
  t.ok(
    embedded.length > 0 && embedded.every(({ first, end }) => first >= excerpt.first && end <= excerpt.end),
    'parts of the excerpt were embedded',
  );
  t.strictSame([parts, own], [[...ALONE, excerpt], embeddings]);
});

t.test('splitAtChanges() skips excerpts that are clear, short, or of the only speaker', async (t) => {
  const { embedded, embed } = embedder();
  await splitAtChanges([...ALONE, BOTH], [ANN, BOB, embedding(0.7, 0.4)], [ANN, BOB], embed);
  await splitAtChanges([...ALONE, { ...BOTH, end: 500 }], [ANN, BOB, embedding(0.6, 0.5)], [ANN, BOB], embed);
  await splitAtChanges([...ALONE, BOTH], [ANN, ANN, embedding(0.6, 0.5)], [ANN], embed);
  t.strictSame(await splitAtChanges([], [], [], embed), [[], []]);
  t.strictSame(embedded, []);
});

t.test("splitAtChanges() compares an excerpt with its speaker's other excerpts, even if it is the longest one", async (t) => {
  const { embed } = embedder();
  const mixed = embedding(0.6, 0.6);
  const bobs = { track: 0, first: 360, end: 390 }; // too short to serve as reference
  const centroids = [ANN, embedding(0.55, 0.8)]; // Bob's comes mostly from the mixed excerpt: similarity 0.81, which is 0.21 above Ann's
  t.equal(
    (await splitAtChanges([ALONE[0]!, bobs, BOTH], [ANN, BOB, mixed], centroids, embed))[0].length,
    3,
    'the change is found within the excerpt if there is no other',
  );
  t.equal((await splitAtChanges([...ALONE, BOTH], [ANN, BOB, mixed], centroids, embed))[0].length, 4);
});
