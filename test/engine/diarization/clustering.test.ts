import t from 'tap';
import { EMBEDDING_SIZE } from '../../../engine/diarization/campplus.ts';
import { clusterSpeakers } from '../../../engine/diarization/clustering.ts';
import { unit } from '../../../engine/diarization/embedding.ts';
import { dot } from '../../../engine/diarization/label.ts';
import { type Linker, link } from '../../../engine/diarization/linkage.ts';
import type { Pair } from '../../../engine/diarization/pairs.ts';

/** Seeded random numbers from -1 to 1. */
function noise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

/** Embeddings of `people` speakers in rotation, each around its own direction. */
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
          { threshold: 0.53, speakers: null },
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
    { threshold: 0.53, speakers: null },
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
        { threshold: 0.53, speakers: 4 },
      )
    ).length,
    4,
  );
  t.equal(
    (
      await clusterSpeakers(
        all,
        all.map(() => 2),
        { threshold: 0.53, speakers: 2 },
      )
    ).length,
    2,
  );
});

t.test('clusterSpeakers() does not mistake a short outlier for a speaker', async (t) => {
  const all = embeddings(2, 20);
  const outlier = unit(Float32Array.from({ length: EMBEDDING_SIZE }, noise(99)));
  t.equal((await clusterSpeakers([...all, outlier], [...all.map(() => 2), 1], { threshold: 0.53, speakers: null })).length, 2);
});

t.test('clusterSpeakers() merges a small cluster at a slightly lower similarity', async (t) => {
  const next = noise(3);
  const [ann, bob] = embeddings(2, 1) as [Float32Array, Float32Array];
  const other = unit(Float32Array.from({ length: EMBEDDING_SIZE }, next));
  const outlier = unit(
    Float32Array.from(other, (value, k) => 0.51 * ann[k]! + Math.sqrt(1 - 0.51 ** 2) * (value - dot(other, ann) * ann[k]!)),
  );
  const found = async (each: number, pairs: Pair[] = []) => {
    const given = [...new Array<Float32Array>(30).fill(ann), ...new Array<Float32Array>(30).fill(bob), outlier, outlier, outlier];
    return (
      await clusterSpeakers(given, [...new Array<number>(60).fill(4), each, each, each], {
        threshold: dot(outlier, ann) + 0.04,
        ...{ speakers: null, pairs },
      })
    ).length;
  };
  t.equal(await found(3), 2, '9 s');
  t.equal(await found(5), 3, '15 s: half of the tolerance is left');
  t.equal(await found(8), 3, '24 s');
  const pair = (b: number, joined: boolean): Pair => ({ a: 0, b, joined, seconds: 3 });
  t.equal(await found(3, [pair(60, false), pair(61, false)]), 3, 'not if the segmentation model separated them …');
  t.equal(await found(3, [pair(60, false), pair(61, false), pair(62, true)]), 2, '… unless it also joined some');
  t.equal(await found(3, [pair(60, false)]), 2, '… or only once');
});

t.test('clusterSpeakers() finds the speakers among many outliers, in bounded memory', async (t) => {
  const next = noise(5);
  const voices = embeddings(3, 60);
  const random = Array.from({ length: 2400 }, () => unit(Float32Array.from({ length: EMBEDDING_SIZE }, next)));
  const all = [...random.slice(0, 1200), ...voices, ...random.slice(1200)];
  const isVoice = all.map((embedding) => voices.includes(embedding));
  let largest = 0;
  const linker: Linker = async (means, weights, options) => {
    largest = Math.max(largest, means.count);
    return link(means, weights, options);
  };
  const seconds = isVoice.map((voice) => (voice ? 4 : 1));
  const found = await clusterSpeakers(all, seconds, { threshold: 0.53, speakers: null, linker });
  t.equal(found.length, 3);
  t.equal(largest, 1800, 'clusters linked at once, of 2,580');
});

t.test('clusterSpeakers() stops between blocks when aborted', async (t) => {
  const all = embeddings(2, 700);
  const stop = new AbortController();
  stop.abort(new Error('deleted'));
  const seconds = all.map(() => 2);
  await t.rejects(clusterSpeakers(all, seconds, { threshold: 0.53, speakers: null, signal: stop.signal }), { message: 'deleted' });
});
