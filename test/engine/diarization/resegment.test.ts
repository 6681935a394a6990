import t from 'tap';
import { EMBEDDING_SIZE } from '../../../engine/diarization/campplus.ts';
import type { Excerpt } from '../../../engine/diarization/excerpts.ts';
import { splitAtChanges } from '../../../engine/diarization/resegment.ts';

/** A unit vector that is so like one voice and so like the other. */
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

/** A stand-in for the embedding model: the speaker with the largest share of each excerpt. Counts the excerpts. */
function listener() {
  const heard: Excerpt[] = [];
  const listen = async (excerpts: Excerpt[]) => {
    heard.push(...excerpts);
    return excerpts.map(({ first, end }) => ((first + end) / 2 < CHANGE ? embedding(0.8, 0.3) : embedding(0.3, 0.8)));
  };
  return { heard, listen };
}

t.test('splitAtChanges() cuts an excerpt where the speaker changes, to within 0.25 s, in order', async (t) => {
  const { listen } = listener();
  const after = { track: 2, first: 700, end: 850 };
  const embeddings = [ANN, BOB, embedding(0.6, 0.5), ANN];
  const [parts, own] = await splitAtChanges([...ALONE, BOTH, after], embeddings, [ANN, BOB], listen);
  t.equal(parts.length, 5);
  t.strictSame([parts[0], parts[1], parts[4]], [...ALONE, after]);
  const [, , first, second] = parts;
  t.strictSame([first!.track, first!.first, second!.track, second!.end], [BOTH.track, BOTH.first, BOTH.track, BOTH.end]);
  t.equal(first!.end, second!.first, 'nothing is lost between');
  t.ok(Math.abs(first!.end - CHANGE) <= 15, `${first!.end}`);
  t.ok(own[2]![0]! > 0.79 && own[3]![1]! > 0.79, 'each with its own embedding');
});

t.test('splitAtChanges() keeps an ambiguous excerpt of one speaker', async (t) => {
  const { heard, listen } = listener();
  const excerpt = { ...BOTH, first: CHANGE - 130, end: CHANGE };
  const embeddings = [ANN, BOB, embedding(0.6, 0.5)];
  const [parts, own] = await splitAtChanges([...ALONE, excerpt], embeddings, [ANN, BOB], listen);
  t.ok(heard.length > 0 && heard.every(({ first, end }) => first >= excerpt.first && end <= excerpt.end), 'it was looked at');
  t.strictSame([parts, own], [[...ALONE, excerpt], embeddings]);
});

t.test('splitAtChanges() skips excerpts that are clear, short, or of the only speaker', async (t) => {
  const { heard, listen } = listener();
  await splitAtChanges([...ALONE, BOTH], [ANN, BOB, embedding(0.7, 0.4)], [ANN, BOB], listen);
  await splitAtChanges([...ALONE, { ...BOTH, end: 500 }], [ANN, BOB, embedding(0.6, 0.5)], [ANN, BOB], listen);
  await splitAtChanges([...ALONE, BOTH], [ANN, ANN, embedding(0.6, 0.5)], [ANN], listen);
  t.strictSame(await splitAtChanges([], [], [], listen), [[], []]);
  t.strictSame(heard, []);
});

t.test("splitAtChanges() compares an excerpt with its speaker's other excerpts, even if it is the longest one", async (t) => {
  const { listen } = listener();
  const mixed = embedding(0.6, 0.6);
  const bobs = { track: 0, first: 360, end: 390 }; // too short to be a measure
  const centroids = [ANN, embedding(0.55, 0.8)]; // Bob's is made of the mixed excerpt for the most part: 0.81 like it, 0.21 more than Ann's
  t.equal(
    (await splitAtChanges([ALONE[0]!, bobs, BOTH], [ANN, BOB, mixed], centroids, listen))[0].length,
    3,
    'found in itself where there is no other',
  );
  t.equal((await splitAtChanges([...ALONE, BOTH], [ANN, BOB, mixed], centroids, listen))[0].length, 4);
});
