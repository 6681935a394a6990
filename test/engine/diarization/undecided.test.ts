import t from 'tap';
import { EMBEDDING_SIZE } from '../../../engine/diarization/campplus.ts';
import { diarize } from '../../../engine/diarization/diarize.ts';
import { cutExcerpts, type Excerpt } from '../../../engine/diarization/excerpts.ts';
import { FRAMES_PER_WINDOW, HOP_SAMPLES, LOCAL_SPEAKERS } from '../../../engine/diarization/pyannote.ts';
import { toTurns } from '../../../engine/diarization/turns.ts';
import { cutAgain, separateUndecided } from '../../../engine/diarization/undecided.ts';
import type { Recording } from '../../../engine/types.ts';

const TOTAL = 600;

/** Tracks of the whole recording from [first frame, end, probability of each]. */
function tracksOf(...parts: [first: number, end: number, ...probabilities: number[]][]) {
  const tracks = [0, 1, 2].map(() => ({ first: 0, probability: new Float32Array(TOTAL) }));
  for (const [first, end, ...probabilities] of parts)
    for (const [i, p] of probabilities.entries()) tracks[i]!.probability.fill(p, first, end);
  const speakerCounts = Float32Array.from({ length: TOTAL }, (_, frame) =>
    tracks.reduce((sum, track) => sum + track.probability[frame]!, 0),
  );
  return { tracks, speakerCounts };
}

const ANN: [number, number, number] = [0, 200, 1];
const BEN: [number, number, number, number] = [300, 500, 0, 1];

t.test('separateUndecided() makes a track of speech that the model divides between its local speakers', async (t) => {
  const doubt = tracksOf(ANN, [210, 240, 0.45, 0.3, 0.2], BEN);
  t.strictSame(
    cutExcerpts(doubt).filter(({ first }) => first >= 200 && first < 300),
    [],
    'it was part of no excerpt',
  );
  const separated = separateUndecided(doubt);
  const excerpts = cutExcerpts(separated);
  const own = excerpts.findIndex(({ first, end }) => first === 210 && end === 240);
  t.not(own, -1);
  const who = Int32Array.from(excerpts, ({ first }) => (first < 200 ? 0 : first < 300 ? 2 : 1));
  t.strictSame(
    toTurns(separated, excerpts, who, 3).map(({ speaker, start }) => [speaker, Math.round(start * 10)]),
    [
      [0, 0],
      [1, 36],
      [2, 51],
    ],
    'the speaker of its excerpt has its turn, although the tracks of the others go on',
  );
});

t.test('separateUndecided() separates it from another track that is active, but never alone', async (t) => {
  const { tracks } = separateUndecided(tracksOf(ANN, [200, 240, 0.6, 0.3, 0.25], BEN));
  t.strictSame(
    tracks.map(({ first, probability }) => [first, probability.length]),
    [
      [0, TOTAL],
      [0, TOTAL],
      [0, TOTAL],
      [200, 40],
    ],
  );
  t.equal(tracks[0]!.probability[220], 0);
  t.equal(tracks[3]!.probability[20], 1, 'of one speaker');
});

t.test('separateUndecided() leaves clear speech, overlaps, silence, short runs and what is part of an excerpt', async (t) => {
  for (const [name, part] of Object.entries<[number, number, ...number[]]>({
    clear: [210, 240, 0.7, 0.3],
    overlap: [210, 240, 0.8, 0.8],
    silence: [210, 240, 0.2, 0.1, 0.1],
    short: [210, 227, 0.45, 0.3, 0.2],
    excerpt: [210, 240, 0.55, 0.25, 0.2],
  })) {
    const tracks = tracksOf(ANN, part, BEN);
    t.strictSame(separateUndecided(tracks), tracks, name);
  }
});

t.test('separateUndecided() separates a run at the end of the recording, and keeps tracks ordered by first frame', async (t) => {
  const doubt = tracksOf([0, 100, 0.4, 0.4, 0.2], [570, TOTAL, 0.4, 0.4, 0.2]);
  doubt.tracks.push({ first: 300, probability: new Float32Array(100) });
  const { tracks } = separateUndecided(doubt);
  t.strictSame(tracks.map(({ first }) => first).slice(3), [0, 300, 570]);
});

t.test('cutAgain() embeds only what is separate, not the rest of the excerpts around it', async (t) => {
  const before = tracksOf([0, 100, 0.4, 0.4, 0.2], [100, 220, 1], [220, 250, 0.45, 0.3, 0.2], BEN);
  const excerpts = cutExcerpts(before);
  const embedded: Excerpt[] = [];
  const [again, embeddings] = await cutAgain(
    separateUndecided(before),
    excerpts,
    excerpts.map((_, i) => Float32Array.of(i)),
    async (fresh) => {
      embedded.push(...fresh);
      return fresh.map(() => Float32Array.of(-1));
    },
  );
  t.strictSame(
    embedded.map(({ first, end }) => [first, end]),
    [
      [0, 100],
      [220, 250],
    ],
  );
  t.strictSame(
    again.map(({ first }, i) => [first, embeddings[i]![0]]).sort((a, b) => a[0]! - b[0]!),
    [
      [0, -1],
      [100, excerpts.findIndex(({ first }) => first === 100)],
      [220, -1],
      [300, excerpts.findIndex(({ first }) => first === 300)],
    ],
  );
});

t.test('diarize() gives an interjection that the model divides between its local speakers to the one whose voice it is', async (t) => {
  const local = { speakers: new Uint8Array(FRAMES_PER_WINDOW * LOCAL_SPEAKERS), speech: new Uint8Array(FRAMES_PER_WINDOW) };
  const said: [number, number, ...number[]][] = [
    [0, 200, 255],
    [210, 400, 0, 255],
    [420, 450, 80, 120, 55],
  ];
  for (const [first, end, ...probabilities] of said)
    for (let frame = first; frame < end; frame++) local.speakers.set(probabilities, frame * LOCAL_SPEAKERS);
  const length = FRAMES_PER_WINDOW * HOP_SAMPLES;
  const recording: Recording = {
    channels: 1,
    length,
    decoded: Promise.resolve(length),
    read: async (_channel, start, end, room = new Float32Array(end - start)) => {
      for (let i = start; i < end; i++) room[i - start] = i / HOP_SAMPLES; // each value is its own frame
      return room.subarray(0, end - start);
    },
    close: async () => {},
  };
  const isBen = ([frame]: Float32Array) => frame! > 205 && frame! < 410;
  const turns = await diarize(
    { step: FRAMES_PER_WINDOW, total: FRAMES_PER_WINDOW, locals: [local] },
    recording,
    'mix',
    async (excerpts) =>
      excerpts.map((samples) => Float32Array.from({ length: EMBEDDING_SIZE }, (_, k) => Number(k === Number(isBen(samples))))),
    { speakers: null },
  );
  t.strictSame(
    turns.map(({ speaker }) => speaker),
    [0, 1, 0],
  );
});
