import t from 'tap';
import { EMBEDDING_SIZE } from '../../../engine/diarization/campplus.ts';
import { clusterSpeakers } from '../../../engine/diarization/clustering.ts';
import { cutExcerpts } from '../../../engine/diarization/excerpts.ts';
import { FRAMES_PER_WINDOW, LOCAL_SPEAKERS, type Local } from '../../../engine/diarization/pyannote.ts';
import type { Activity } from '../../../engine/diarization/segmentation.ts';
import { snapToSound } from '../../../engine/diarization/snap-turns.ts';
import { joinTracks } from '../../../engine/diarization/tracks.ts';
import { attribute } from '../../../engine/transcript/attribute.ts';

/** Three embeddings per person; those of different people are orthogonal. */
function strangers(people: number): Float32Array[] {
  return Array.from({ length: 3 * people }, (_, i) => Float32Array.from({ length: EMBEDDING_SIZE }, (_, k) => (k === i % people ? 1 : 0)));
}

t.test('clusterSpeakers() finds at most 100 speakers, those who speak most', async (t) => {
  const found = (people: number) => {
    const embeddings = strangers(people);
    return clusterSpeakers(
      embeddings,
      embeddings.map((_, i) => 4 + 0.01 * (i % people)),
      { threshold: 0.53, speakers: null },
    );
  };
  t.equal((await found(40)).length, 40);
  const most = await found(110);
  t.equal(most.length, 100);
  t.ok(
    most.every((voice) => voice.indexOf(1) >= 10),
    'the ten who speak least are dropped',
  );
});

t.test('clusterSpeakers() respects a known number of speakers even if it would find more or fewer', async (t) => {
  const embeddings = strangers(5);
  const seconds = embeddings.map(() => 4);
  for (const known of [2, 3, 5]) t.equal((await clusterSpeakers(embeddings, seconds, { threshold: 0.53, speakers: known })).length, known);
  t.equal((await clusterSpeakers(embeddings, seconds, { threshold: -1, speakers: 4 })).length, 4, 'although the threshold would merge all');
});

/** One local speaker, active in the given frames of one window. */
function alone(...spans: [number, number][]): Local {
  const local = { speakers: new Uint8Array(FRAMES_PER_WINDOW * LOCAL_SPEAKERS), speech: new Uint8Array(FRAMES_PER_WINDOW) };
  for (const [from, to] of spans)
    for (let frame = from; frame < to; frame++) {
      local.speakers[frame * LOCAL_SPEAKERS] = 255;
      local.speech[frame] = 255;
    }
  return local;
}

const window = (...spans: [number, number][]): Activity => ({
  step: FRAMES_PER_WINDOW,
  total: FRAMES_PER_WINDOW,
  locals: [alone(...spans)],
});

t.test('cutExcerpts() bridges no pause over 0.1 s', async (t) => {
  const lengths = (pause: number) => cutExcerpts(joinTracks(window([0, 100], [100 + pause, 200]))).length;
  t.equal(lengths(4), 1);
  t.equal(lengths(6), 2);
});

t.test('cutExcerpts() divides the speech of one person into excerpts of at most 4 s', async (t) => {
  const excerpts = cutExcerpts(joinTracks(window([0, 474]))).map(({ first, end }) => end - first);
  t.strictSame(excerpts, [237, 237]);
  t.equal(cutExcerpts(joinTracks(window([0, 480]))).length, 3);
});

t.test('joinTracks() joins two windows with six common frames, but not with four', async (t) => {
  const tracks = (common: number) => {
    const step = 400;
    const [from, to] = [step + 50, step + 50 + common];
    return joinTracks({ step, total: step + FRAMES_PER_WINDOW, locals: [alone([from, to]), alone([from - step, to - step])] }).tracks
      .length;
  };
  t.equal(tracks(4), 2);
  t.equal(tracks(8), 1);
});

t.test('snapToSound() keeps a soft end 30 dB below the loud part, and drops one 40 dB below it', async (t) => {
  const end = (soft: number) => {
    const levels = Float32Array.from({ length: 300 }, (_, i) => (i < 50 || i >= 250 ? -90 : i < 200 ? -20 : soft));
    const unsure = new Float32Array(200).fill(0.6);
    return snapToSound([{ speaker: 0, start: 0.5, end: 2.75 }], levels, unsure).at(-1)!.end;
  };
  t.equal(end(-50), 2.54);
  t.equal(end(-60), 2.04);
});

t.test('attribute() assigns a word over 0.5 s from every turn to the previous speaker, not to the next turn', async (t) => {
  const word = (start: number, end: number) => ({ start, end, text: ' w', probability: 1 });
  const turns = [
    { speaker: 0, start: 0, end: 1 },
    { speaker: 1, start: 4, end: 5 },
  ];
  const said = attribute([word(0.2, 0.8), word(3.1, 3.3), word(4.1, 4.5)], turns);
  t.strictSame(
    said.map(({ speaker }) => speaker),
    [0, 0, 1],
  );
});
