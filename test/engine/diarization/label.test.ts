import t from 'tap';
import { EMBEDDING_SIZE } from '../../../engine/diarization/campplus.ts';
import type { Excerpt } from '../../../engine/diarization/excerpts.ts';
import { assignSpeakers } from '../../../engine/diarization/label.ts';
import type { Track } from '../../../engine/diarization/tracks.ts';

const [ANN, BOB] = [0, 1];

/** An embedding with the given cosine similarities to both voices (before normalisation). */
const embedding = (ann: number, bob: number) =>
  Float32Array.from({ length: EMBEDDING_SIZE }, (_, k) => (k === ANN ? ann : k === BOB ? bob : 0));
const VOICES = [embedding(1, 0), embedding(0, 1)];

/** A track that is active in its excerpts. */
function track(first: number, end: number, ...active: Excerpt[]): Track {
  const probability = new Float32Array(end - first);
  for (const excerpt of active) probability.fill(0.9, excerpt.first - first, excerpt.end - first);
  return { first, probability };
}

const LONG = { track: 0, first: 0, end: 150 };
const short = (track: number) => ({ track, first: 170, end: 190 });

t.test('assignSpeakers() assigns an excerpt to the most similar speaker', async (t) => {
  const excerpts = [LONG, { track: 1, first: 170, end: 320 }];
  const tracks = [track(0, 400, excerpts[0]!), track(0, 400, excerpts[1]!)];
  t.strictSame(
    [...assignSpeakers(excerpts, tracks, [embedding(0.8, 0.2), embedding(0.41, 0.4)], VOICES)],
    [ANN, ANN],
    'a long excerpt by its embedding alone',
  );
});

t.test(
  'assignSpeakers() assigns a short ambiguous excerpt to a voice other than that of a different local speaker in the same window',
  async (t) => {
    const excerpts = [LONG, short(1)];
    const embeddings = [embedding(0.8, 0.2), embedding(0.41, 0.4)];
    t.strictSame([...assignSpeakers(excerpts, [track(0, 400, LONG), track(0, 400, short(1))], embeddings, VOICES)], [ANN, BOB]);
    t.strictSame(
      [...assignSpeakers(excerpts, [track(0, 160, LONG), track(165, 400, short(1))], embeddings, VOICES)],
      [ANN, ANN],
      'never in the same window',
    );
    t.strictSame(
      [...assignSpeakers(excerpts, [track(0, 400, LONG), track(0, 400, short(1))], [embeddings[0]!, embedding(0.7, 0.3)], VOICES)],
      [ANN, ANN],
      'not ambiguous',
    );
  },
);

t.test('assignSpeakers() assigns a short ambiguous excerpt to the speaker of its own track nearby', async (t) => {
  const excerpts = [LONG, short(0)];
  const both = track(0, 400, LONG, short(0));
  t.strictSame([...assignSpeakers(excerpts, [both], [embedding(0.8, 0.2), embedding(0.4, 0.41)], VOICES)], [ANN, ANN]);
  t.strictSame([...assignSpeakers(excerpts, [both], [embedding(0.8, 0.2), embedding(0.3, 0.7)], VOICES)], [ANN, BOB], 'not ambiguous');
});

t.test('assignSpeakers() treats two tracks that are active at once as two people', async (t) => {
  const excerpts = [LONG, { track: 1, first: 100, end: 200 }];
  const tracks = [track(0, 400, excerpts[0]!), track(0, 400, excerpts[1]!)];
  t.strictSame([...assignSpeakers(excerpts, tracks, [embedding(0.8, 0.2), embedding(0.5, 0.1)], VOICES)], [ANN, BOB]);
});

t.test('assignSpeakers() lets a short excerpt depend on others within 240 frames', async (t) => {
  const after = (frames: number) => {
    const late = { track: 1, first: LONG.end + frames, end: LONG.end + frames + 20 };
    return assignSpeakers([LONG, late], [track(0, 600, LONG), track(0, 600, late)], [embedding(0.8, 0.2), embedding(0.41, 0.4)], VOICES)[1];
  };
  t.equal(after(230), BOB);
  t.equal(after(250), ANN);
});

/** The speaker of an excerpt that sounds like ANN and begins `gap` frames after ANN's; both tracks are active in the given frames. */
function besideAnn(gap: number, both: [first: number, end: number], between: Excerpt[] = []): number {
  const late = { track: 1, first: LONG.end + gap, end: LONG.end + gap + 150 };
  const shared = { track: 1, first: both[0], end: both[1] };
  const tracks = [track(0, 600, LONG, shared), track(0, 600, late, shared), track(0, 600, ...between)];
  const voices = [embedding(0.8, 0.2), ...between.map(() => embedding(0, 1)), embedding(0.5, 0.1)];
  return assignSpeakers([LONG, ...between, late], tracks, voices, VOICES).at(-1)!;
}

t.test('assignSpeakers() takes six frames of two active tracks for two people', async (t) => {
  t.equal(besideAnn(20, [152, 157]), ANN);
  t.equal(besideAnn(20, [152, 158]), BOB);
});

t.test('assignSpeakers() looks for them up to 18 frames around the excerpts', async (t) => {
  t.equal(besideAnn(5, [137, 145]), BOB);
  t.equal(besideAnn(5, [120, 135]), ANN);
});

t.test('assignSpeakers() compares an excerpt with those after it, whatever lies between', async (t) => {
  const between = Array.from({ length: 10 }, (_, i) => ({ track: 2, first: 10 * i + 5, end: 10 * i + 10 }));
  t.equal(besideAnn(5, [137, 150], between), BOB);
});
