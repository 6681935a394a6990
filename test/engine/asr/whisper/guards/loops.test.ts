import t from 'tap';
import type { DecodeJob } from '../../../../../engine/asr/whisper/decoding/decode-job.ts';
import { beyondSpeech, loopCut, repeats } from '../../../../../engine/asr/whisper/guards/loops.ts';

const LOOPING = [100, 1, 2, 3, 7, 8, 9, 7, 8, 9, 7, 8, 9, 7, 8, 9];
const job = (pastLoops: boolean) => ({ options: { pastLoops } }) as DecodeJob;

t.test('repeats() detects repetition in the latest tokens, at every eighth token', async (t) => {
  t.ok(repeats(LOOPING));
  t.notOk(repeats(LOOPING.slice(0, -1)), 'only at every eighth token');
  t.notOk(repeats([...LOOPING.slice(0, -1), 4]), 'three repetitions may be intended');
  t.ok(repeats([...Array.from({ length: 160 }, (_, i) => i), ...LOOPING]), 'far into a row');
});

t.test('repeats() looks at the latest 64 tokens', async (t) => {
  const others = (count: number) => Array.from({ length: count }, (_, i) => 1000 + i);
  t.ok(repeats([...LOOPING, ...others(48)]), 'a loop at their beginning');
  t.notOk(repeats([...LOOPING, ...others(56)]), 'one that lies further back');
});

t.test('loopCut() keeps one repetition, counted from the beginning of the row', async (t) => {
  t.equal(loopCut({ job: job(true), tokens: LOOPING, cuts: [] }), 7);
  const before = Array.from({ length: 160 }, (_, i) => 1000 + i);
  t.equal(loopCut({ job: job(true), tokens: [...before, ...LOOPING], cuts: [] }), 167);
});

t.test('loopCut() lets a loop end the row if continuing was not requested or was tried too often', async (t) => {
  t.equal(loopCut({ job: job(false), tokens: LOOPING, cuts: [] }), null);
  t.equal(loopCut({ job: job(true), tokens: LOOPING, cuts: Array(40).fill(2) }), null);
});

t.test('beyondSpeech() ends a row that continued after a loop once its timestamps pass the last speech', async (t) => {
  const facts = { firstTimestamp: 1000, tick: 0.5 };
  const spoken = { ...job(true), speech: [{ start: 0, end: 2 }] } as unknown as DecodeJob;
  const ends = (tokens: number[], cuts: number[]) => beyondSpeech({ job: spoken, tokens, cuts }, facts);
  t.ok(ends([1000, 1, 1004], [2]));
  t.notOk(ends([1000, 1, 1003], [2]), '0.5 s is left');
  t.notOk(ends([1000, 1, 1004, 1004, 5], [2]), 'inside a segment');
  t.notOk(ends([1000, 1, 1004], []), 'a row without loops ends by itself');
});
