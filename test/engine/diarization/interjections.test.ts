import t from 'tap';
import { EMBEDDING_SIZE } from '../../../engine/diarization/campplus.ts';
import { diarize } from '../../../engine/diarization/diarize.ts';
import { cutExcerpts, type Excerpt } from '../../../engine/diarization/excerpts.ts';
import { cutOffInterjections } from '../../../engine/diarization/interjections.ts';
import { FRAMES_PER_WINDOW, HOP_SAMPLES, LOCAL_SPEAKERS, startOf } from '../../../engine/diarization/pyannote.ts';
import type { Activity } from '../../../engine/diarization/segmentation.ts';
import { joinTracks } from '../../../engine/diarization/tracks.ts';
import type { Recording } from '../../../engine/types.ts';

/** A unit vector with the given cosine similarities to three voices. */
function embedding(...similarities: number[]): Float32Array {
  const rest = Math.sqrt(Math.max(0, 1 - similarities.reduce((sum, x) => sum + x * x, 0)));
  return Float32Array.from({ length: EMBEDDING_SIZE }, (_, k) => (k === 3 ? rest : (similarities[k] ?? 0)));
}

const VOICES = [embedding(1), embedding(0, 1)];
const ANN = { track: 0, first: 100, end: 250 }; // 2.5 s
const LATE = 215; // frame of the dip 0.6 s before the end
const EARLY = 135; // and after the beginning

interface Case {
  excerpts?: Excerpt[];
  /** Level of the dips, dB; that of speech is -20. */
  quiet?: number;
  /** Probability at the dips. */
  doubt?: number;
  /** Embedding of the end and of the beginning. */
  end?: Float32Array;
  voices?: Float32Array[];
}

/** Ann's excerpt with two dips. */
async function cut({ excerpts = [ANN], quiet = -40, doubt = 0.8, end = embedding(0.3, 0.6), voices = VOICES }: Case) {
  const levels = new Float32Array(800).fill(-20);
  const probability = new Float32Array(450).fill(1);
  for (const frame of [EARLY, LATE]) {
    levels.fill(quiet, Math.round(startOf(frame) * 100) - 5, Math.round(startOf(frame) * 100) + 5);
    probability[frame] = doubt;
  }
  const embedded: Excerpt[] = [];
  const embed = async (pieces: Excerpt[]) => {
    embedded.push(...pieces);
    return pieces.map(() => end);
  };
  const own = excerpts.map(() => embedding(0.8, 0.3));
  const [parts, embeddings] = await cutOffInterjections(excerpts, own, voices, {
    ...{ threshold: 0.53, tracks: [{ first: 0, probability }], levels, embed },
  });
  return { embedded, embeddings, edges: parts.map(({ first, end }) => [first, end]) };
}

t.test('cutOffInterjections() cuts off what another speaker says right before and after an excerpt, at the dip', async (t) => {
  const { edges, embeddings } = await cut({});
  t.equal(edges.length, 3);
  const [[first, early], [from, late], [to, end]] = edges as [[number, number], [number, number], [number, number]];
  t.strictSame([first, end], [ANN.first, ANN.end]);
  t.strictSame([from, to], [early, late], 'no gap between the parts');
  t.ok(Math.abs(early - EARLY) <= 3 && Math.abs(late - LATE) <= 3, `${early} ${late}`);
  const similar = embeddings.map((vector) => Math.round(vector[1]! * 10));
  t.strictSame(similar, [6, 3, 6], 'each with its own embedding');
});

t.test('cutOffInterjections() keeps an end that is not clearly more similar to another speaker', async (t) => {
  for (const end of [embedding(0.6, 0.4), embedding(0.5, 0.58), embedding(0.2, 0.5)])
    t.strictSame((await cut({ end })).edges, [[ANN.first, ANN.end]], `${end.slice(0, 2)}`);
});

t.test(
  'cutOffInterjections() embeds no end without a dip, without doubt, in one run with the next excerpt, or in short excerpts',
  async (t) => {
    const next = { track: 0, first: 251, end: 400 };
    for (const [name, each] of Object.entries<Case>({
      'no dip': { quiet: -28 },
      'no doubt': { doubt: 0.95 },
      'one run': { excerpts: [{ ...ANN, first: 0, end: 99 }, ANN, next] },
      'half a second': { excerpts: [{ ...ANN, first: LATE - 10 }] },
      overlapped: { excerpts: [{ ...ANN, overlapped: true }] },
      'one speaker': { voices: VOICES.slice(0, 1) },
    })) {
      const { embedded, edges } = await cut(each);
      t.notOk(
        embedded.some(({ first, end }) => first === ANN.first || end === ANN.end),
        name,
      );
      t.equal(edges.length, each.excerpts?.length ?? 1, name);
    }
  },
);

/** Segmentation of one window: [first frame, end] of what local speakers say. */
function activityOf(...people: [number, number][][]): Activity {
  const local = { speakers: new Uint8Array(FRAMES_PER_WINDOW * LOCAL_SPEAKERS), speech: new Uint8Array(FRAMES_PER_WINDOW) };
  for (const [person, spans] of people.entries())
    for (const [from, to] of spans)
      for (let frame = from; frame < to; frame++) {
        local.speakers[frame * LOCAL_SPEAKERS + person] = 255;
        local.speech[frame] = 255;
      }
  return { step: FRAMES_PER_WINDOW, total: FRAMES_PER_WINDOW, locals: [local] };
}

t.test('cutExcerpts() makes an excerpt of an interjection that another overlaps throughout', async (t) => {
  const late: [number, number] = [340, 430];
  const of = (...said: [number, number][]) =>
    cutExcerpts(joinTracks(activityOf([[0, 300]], [...said, late])))
      .filter(({ track }) => track === 1)
      .map(({ first, end, overlapped = false }) => [first, end, overlapped]);
  t.strictSame(of([100, 140]), [
    [100, 140, true],
    [...late, false],
  ]);
  t.strictSame(of([100, 110]), [[...late, false]], 'it is too short');
  t.strictSame(
    of([280, 330]),
    [
      [300, 330, false],
      [...late, false],
    ],
    'it is alone at its end',
  );
});

t.test('diarize() forms no speaker from overlapped speech', async (t) => {
  const length = (FRAMES_PER_WINDOW + 4) * HOP_SAMPLES;
  const recording: Recording = {
    channels: 1,
    length,
    decoded: Promise.resolve(length),
    read: async (_channel, start, end, room = new Float32Array(end - start)) => {
      for (let i = start; i < end; i++) room[i - start] = i / length; // each value is its own position
      return room.subarray(0, end - start);
    },
    close: async () => {},
  };
  const activity = activityOf(
    [[0, 200]],
    [
      [60, 140],
      [300, 500],
    ],
  );
  const voice = (frame: number) => (frame < 60 || (frame > 139 && frame < 250) ? 0 : frame > 250 ? 1 : 2);
  const turns = await diarize(
    activity,
    recording,
    'mix',
    async (excerpts) =>
      excerpts.map(([first]) => embedding(...[0, 1, 2].map((k) => (voice((first! * length) / HOP_SAMPLES) === k ? 1 : 0)))),
    { speakers: null },
  );
  t.equal(new Set(turns.map(({ speaker }) => speaker)).size, 2, 'although the overlap lasts 1.4 s and resembles nobody');
});
