import t from 'tap';
import { EMBEDDING_SIZE } from '../../../engine/diarization/campplus.ts';
import { clusterSpeakers } from '../../../engine/diarization/clustering.ts';
import { unit } from '../../../engine/diarization/embedding.ts';
import { dot } from '../../../engine/diarization/label.ts';

/** A repeatable stream of numbers from -1 to 1. */
function noise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

/** Embeddings of `people` speakers in turn, each with its own direction and some spread. */
function embeddings(people: number, each: number): Float32Array[] {
  const next = noise(7);
  const centres = Array.from({ length: people }, () => unit(Float32Array.from({ length: EMBEDDING_SIZE }, next)));
  return Array.from({ length: people * each }, (_, i) => {
    const spread = unit(Float32Array.from({ length: EMBEDDING_SIZE }, next));
    return unit(Float32Array.from(centres[i % people]!, (value, k) => value + 0.6 * spread[k]!));
  });
}

t.test('clusterSpeakers() finds one cluster per person', async (t) => {
  for (const people of [1, 2, 6, 20]) {
    const all = embeddings(people, 12);
    t.equal(
      (
        await clusterSpeakers(
          all,
          all.map(() => 2),
          0.53,
          null,
        )
      ).length,
      people,
    );
  }
});

t.test('clusterSpeakers() finds the same speakers block by block', async (t) => {
  const all = embeddings(5, 600);
  const centroids = await clusterSpeakers(
    all,
    all.map(() => 2),
    0.53,
    null,
  );
  t.equal(centroids.length, 5);
  for (const centroid of centroids) t.ok(Math.abs(dot(centroid, centroid) - 1) < 1e-4);
});

t.test('clusterSpeakers() respects a known number of speakers', async (t) => {
  const all = embeddings(4, 10);
  t.equal(
    (
      await clusterSpeakers(
        all,
        all.map(() => 2),
        0.53,
        4,
      )
    ).length,
    4,
  );
  t.equal(
    (
      await clusterSpeakers(
        all,
        all.map(() => 2),
        0.53,
        2,
      )
    ).length,
    2,
  );
});

t.test('clusterSpeakers() does not mistake a short stray sound for a person', async (t) => {
  const all = embeddings(2, 20);
  const stray = unit(Float32Array.from({ length: EMBEDDING_SIZE }, noise(99)));
  t.equal((await clusterSpeakers([...all, stray], [...all.map(() => 2), 1], 0.53, null)).length, 2);
});

t.test('clusterSpeakers() merges a small cluster at a slightly lower similarity', async (t) => {
  const next = noise(3);
  const [ann, bob] = embeddings(2, 1) as [Float32Array, Float32Array];
  const other = unit(Float32Array.from({ length: EMBEDDING_SIZE }, next));
  const stray = unit(
    Float32Array.from(other, (value, k) => 0.51 * ann[k]! + Math.sqrt(1 - 0.51 ** 2) * (value - dot(other, ann) * ann[k]!)),
  );
  const found = async (each: number) => {
    const said = [...new Array<Float32Array>(30).fill(ann), ...new Array<Float32Array>(30).fill(bob), stray, stray, stray];
    return (await clusterSpeakers(said, [...new Array<number>(60).fill(4), each, each, each], dot(stray, ann) + 0.02, null)).length;
  };
  t.equal(await found(3), 2, 'nine seconds');
  t.equal(await found(5), 3, 'fifteen seconds: half of the doubt is gone');
  t.equal(await found(8), 3, 'twenty-four seconds');
});

t.test('clusterSpeakers() finds the speakers among many outliers, in bounded memory', async (t) => {
  const next = noise(5);
  const voices = embeddings(3, 60);
  const strays = Array.from({ length: 2400 }, () => unit(Float32Array.from({ length: EMBEDDING_SIZE }, next)));
  const all = [...strays.slice(0, 1200), ...voices, ...strays.slice(1200)];
  const isVoice = all.map((embedding) => voices.includes(embedding));
  const found = await clusterSpeakers(
    all,
    isVoice.map((voice) => (voice ? 4 : 1)),
    0.53,
    null,
  );
  t.equal(found.length, 3);
});

t.test('clusterSpeakers() stops between blocks when aborted', async (t) => {
  const all = embeddings(2, 700);
  const stop = new AbortController();
  stop.abort(new Error('deleted'));
  const seconds = all.map(() => 2);
  await t.rejects(clusterSpeakers(all, seconds, 0.53, null, stop.signal), { message: 'deleted' });
});
