import t from 'tap';
import { cutExcerpts, sampleRange } from '../../../engine/diarization/excerpts.ts';
import { assignSpeakers } from '../../../engine/diarization/label.ts';
import { FRAMES_PER_WINDOW, LOCAL_SPEAKERS } from '../../../engine/diarization/pyannote.ts';
import type { Activity } from '../../../engine/diarization/segmentation.ts';
import { joinTracks } from '../../../engine/diarization/tracks.ts';
import { smoothed, toTurns } from '../../../engine/diarization/turns.ts';

const STEP = 296;

/** Segmentation of a recording in which people speak in these frames; `seats[w][person]`: the person's local speaker index in window w. */
function activityOf(people: [number, number][][], seats: number[][]): Activity {
  const locals = seats.map((seat, w) => {
    const speakers = new Uint8Array(FRAMES_PER_WINDOW * LOCAL_SPEAKERS);
    const speech = new Uint8Array(FRAMES_PER_WINDOW);
    for (const [person, spans] of people.entries()) {
      for (const [from, to] of spans) {
        for (let frame = Math.max(0, from - w * STEP); frame < Math.min(FRAMES_PER_WINDOW, to - w * STEP); frame++) {
          speakers[frame * LOCAL_SPEAKERS + seat[person]!] = 255;
          speech[frame] = 255;
        }
      }
    }
    return { speakers, speech };
  });
  return { step: STEP, total: (seats.length - 1) * STEP + FRAMES_PER_WINDOW, locals };
}

t.test('joinTracks() follows a voice whose local index differs between windows', async (t) => {
  const people: [number, number][][] = [[[100, 800]], [[200, 400]]];
  const { tracks, speakerCounts } = joinTracks(
    activityOf(people, [
      [0, 1],
      [2, 0],
      [1, 2],
    ]),
  );
  t.equal(tracks.length, 2);
  const [first] = tracks;
  t.ok(first!.probability[500 - first!.first]! > 0.99 && first!.probability[50]! < 0.01);
  t.strictSame(
    [speakerCounts[50], speakerCounts[150], speakerCounts[300], speakerCounts[700]].map((h) => Math.round(h!)),
    [0, 1, 2, 1],
  );
});

t.test('cutExcerpts() selects spans of a single voice, at most 4 s long', async (t) => {
  const tracks = joinTracks(activityOf([[[0, 500]], [[480, 560]]], [[0, 1]]));
  const excerpts = cutExcerpts(tracks);
  t.ok(excerpts.every(({ first, end }) => end - first <= 260));
  const alone = excerpts.filter(({ track }) => track === 0);
  t.equal(alone[0]!.first, 0);
  t.equal(alone.at(-1)!.end, 480, 'overlapping speech is excluded');
});

t.test('sampleRange() rounds to few distinct lengths', async (t) => {
  const lengths = new Set(Array.from({ length: 237 }, (_, i) => sampleRange({ track: 0, first: 100, end: 101 + i }).samples));
  t.ok(lengths.size < 25, `${lengths.size} lengths`);
});

t.test('assignSpeakers() assigns two tracks that are active at once to two speakers', async (t) => {
  const { tracks } = joinTracks(activityOf([[[0, 300]], [[100, 250]]], [[0, 1]]));
  const excerpts = [
    { track: 0, first: 0, end: 100 },
    { track: 1, first: 100, end: 180 },
  ];
  const embeddings = [Float32Array.of(1, 0), Float32Array.of(0.8, 0.6)];
  t.strictSame(
    [...assignSpeakers(excerpts, tracks, embeddings, [Float32Array.of(1, 0), Float32Array.of(0, 1)])],
    [0, 1],
    'the less similar track gets its second choice',
  );
});

t.test('toTurns() lets turns overlap, numbers speakers by first appearance and orders by start', async (t) => {
  const tracks = joinTracks(activityOf([[[300, 500]], [[100, 350]]], [[0, 1]]));
  const excerpts = cutExcerpts(tracks);
  const who = Int32Array.from(excerpts, ({ track }) => track);
  const turns = toTurns(tracks, excerpts, who, 2);
  t.equal(turns.length, 2);
  const [early, late] = turns;
  t.strictSame([early!.speaker, late!.speaker], [0, 1]);
  t.ok(late!.start < early!.end, 'they overlap');
  t.ok(Math.abs(early!.start - 100 * 0.016875) < 0.06 && Math.abs(late!.end - 500 * 0.016875) < 0.06);
});

t.test('smoothed() fills short pauses of one voice, keeps interjections and drops clicks', async (t) => {
  const turns = [
    { speaker: 0, start: 0, end: 2 },
    { speaker: 1, start: 2.1, end: 2.3 },
    { speaker: 0, start: 2.2, end: 4 },
    { speaker: 1, start: 5, end: 5.05 },
    { speaker: 0, start: 4.5, end: 6 },
  ];
  t.strictSame(smoothed(turns), [
    { speaker: 0, start: 0, end: 4 },
    { speaker: 1, start: 2.1, end: 2.3 },
    { speaker: 0, start: 4.5, end: 6 },
  ]);
});
