import { fileURLToPath } from 'node:url';
import t from 'tap';
import { decode } from '../../../engine/audio/decode.ts';
import { diarize } from '../../../engine/diarization/diarize.ts';
import { embed } from '../../../engine/diarization/embedding.ts';
import { observe, segment, speechProbability } from '../../../engine/diarization/segmentation.ts';
import { openSession } from '../../../engine/runtime/session.ts';
import { segmentationNetwork, voiceNetwork } from '../../../models/networks.ts';

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const segmentation = await openSession(await segmentationNetwork(at('models/diarization/segmentation-3.0.onnx')));
const embedding = await openSession(await voiceNetwork(at('models/diarization/campplus-zh-en-common.onnx')));
t.teardown(() => Promise.all([segmentation.close(), embedding.close()]));

async function turnsOf(file: string, speakers: number | null = null) {
  const recording = await decode(at(`test/fixtures/audio/${file}`));
  try {
    const activity = await observe(recording, 'mix', (windows) => segment(segmentation, windows));
    const turns = await diarize(activity, recording, 'mix', (excerpts) => embed(embedding, excerpts), { speakers });
    return { activity, turns };
  } finally {
    await recording.close();
  }
}

t.test('diarize() finds three speakers in the falcon clip, boundaries within 0.5 s', async (t) => {
  const { turns, activity } = await turnsOf('en_falcon_3spk.wav');
  const truth = [
    { speaker: 0, start: 1.7, end: 3.9 },
    { speaker: 1, start: 6.2, end: 11.1 },
    { speaker: 2, start: 12.8, end: 18 },
  ];
  t.equal(turns.length, truth.length);
  for (const [i, { speaker, start, end }] of truth.entries()) {
    t.equal(turns[i]!.speaker, speaker);
    t.ok(Math.abs(turns[i]!.start - start) < 0.5 && Math.abs(turns[i]!.end - end) < 0.5, JSON.stringify(turns[i]));
  }
  const speech = speechProbability(activity);
  t.ok(speech[Math.round(8 / 0.016875)]! > 0.95 && speech[Math.round(5 / 0.016875)]! < 0.05, 'speech within turns, none in the pause');
});

t.test('diarize() respects a known number of speakers', async (t) => {
  const { turns } = await turnsOf('en_falcon_3spk.wav', 2);
  t.equal(new Set(turns.map(({ speaker }) => speaker)).size, 2);
});

t.test('diarize() finds one speaker in a monologue', async (t) => {
  const { turns } = await turnsOf('en_jfk.mp3');
  t.strictSame([...new Set(turns.map(({ speaker }) => speaker))], [0]);
});

t.test('observe() stops when aborted', async (t) => {
  const recording = await decode(at('test/fixtures/audio/en_jfk.mp3'));
  const stop = new AbortController();
  stop.abort(new Error('deleted'));
  await t.rejects(
    observe(recording, 'mix', (windows) => segment(segmentation, windows), { signal: stop.signal }),
    { message: 'deleted' },
  );
  await recording.close();
});
