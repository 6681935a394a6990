import t from 'tap';
import { link } from '../../../engine/diarization/linkage.ts';

/** Unit vectors in the plane at these angles, degrees. */
function at(...degrees: number[]) {
  const data = Float32Array.from(degrees.flatMap((d) => [Math.cos((d * Math.PI) / 180), Math.sin((d * Math.PI) / 180)]));
  return { count: degrees.length, width: 2, data };
}

t.test('link() merges rows within the distance and keeps the others separate', async (t) => {
  t.strictSame([...link(at(0, 90, 5, 95, 180), [1, 1, 1, 1, 1], { stop: 0.5 })], [0, 1, 0, 1, 2]);
});

t.test('link() uses the mean similarity, not the nearest or the furthest pair', async (t) => {
  // 40 and 75 join (cosine 0.82); their mean to 0 is (0.77 + 0.26) / 2 = 0.51
  t.strictSame([...link(at(0, 40, 75), [1, 1, 1], { stop: 0.5 })], [0, 0, 0]);
  t.strictSame([...link(at(0, 40, 75), [1, 1, 1], { stop: 0.54 })], [0, 1, 1]);
});

t.test('link() weighs means by seconds', async (t) => {
  const light = link(at(0, 30, 90), [1, 9, 1], { stop: 0.4 });
  t.strictSame([...light], [0, 0, 0], 'mean to 90 is (0 + 9 x 0.5) / 10 = 0.45');
  const heavy = link(at(0, 30, 90), [9, 1, 1], { stop: 0.4 });
  t.strictSame([...heavy], [0, 0, 1], 'mean to 90 is (0 + 0.5) / 10 = 0.05');
});

t.test('link() with a known number returns the last state with that many heavy clusters', async (t) => {
  t.strictSame([...link(at(0, 4, 90, 94, 180), [5, 5, 5, 5, 5], { stop: 0, speakers: 2, minWeight: 3 })].length, 5);
  const two = link(at(0, 4, 90, 94), [5, 5, 5, 5], { stop: 0.9, speakers: 2, minWeight: 3 });
  t.strictSame([...two], [0, 0, 1, 1]);
  const outlier = link(at(0, 4, 90, 94, 200), [5, 5, 5, 5, 0.1], { stop: 0.9, speakers: 2, minWeight: 3 });
  t.equal(new Set([...outlier].slice(0, 4)).size, 2, 'an outlier cluster of 0.1 s does not count as a speaker');
});

t.test('link() with a known number that is never reached falls back to that many clusters', async (t) => {
  t.equal(new Set(link(at(0, 90, 180), [1, 1, 1], { stop: 0, speakers: 3, minWeight: 5 })).size, 3);
});

t.test('link() with a known number joins even rows that are opposite to each other', async (t) => {
  t.strictSame([...link(at(0, 120, 240), [1, 1, 1], { stop: 0.5, speakers: 1, minWeight: 1 })], [0, 0, 0]);
  t.strictSame([...link(at(0, 180, 2), [1, 1, 1], { stop: 0.5, speakers: 1, minWeight: 1 })], [0, 0, 0]);
});
