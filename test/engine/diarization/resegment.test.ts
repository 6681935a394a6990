import t from 'tap';
import { SIZE } from '../../../engine/diarization/embedding.ts';
import type { Piece } from '../../../engine/diarization/excerpts.ts';
import { divide } from '../../../engine/diarization/resegment.ts';

/** A unit vector that is so like one voice and so like the other. */
function print(ann: number, bob: number): Float32Array {
  const rest = Math.sqrt(Math.max(0, 1 - ann * ann - bob * bob));
  return Float32Array.from({ length: SIZE }, (_, k) => [ann, bob, rest][k] ?? 0);
}

const [ANN, BOB] = [print(1, 0), print(0, 1)];
const ALONE = [
  { track: 0, first: 0, end: 150 },
  { track: 0, first: 200, end: 350 },
];
const BOTH = { track: 1, first: 400, end: 630 };
const CHANGE = 510; // the frame from which Bob speaks in it

/** A stand-in for the embedding model: the speaker with the largest share of each piece. Counts the pieces. */
function listener() {
  const heard: Piece[] = [];
  const listen = async (pieces: Piece[]) => {
    heard.push(...pieces);
    return pieces.map(({ first, end }) => ((first + end) / 2 < CHANGE ? print(0.8, 0.3) : print(0.3, 0.8)));
  };
  return { heard, listen };
}

t.test('divide() cuts a piece in which the voice changes to within a quarter of a second, in order', async (t) => {
  const { listen } = listener();
  const after = { track: 2, first: 700, end: 850 };
  const prints = [ANN, BOB, print(0.6, 0.5), ANN];
  const [parts, own] = await divide([...ALONE, BOTH, after], prints, [ANN, BOB], listen);
  t.equal(parts.length, 5);
  t.strictSame([parts[0], parts[1], parts[4]], [...ALONE, after]);
  const [, , first, second] = parts;
  t.strictSame([first!.track, first!.first, second!.track, second!.end], [BOTH.track, BOTH.first, BOTH.track, BOTH.end]);
  t.equal(first!.end, second!.first, 'nothing is lost between');
  t.ok(Math.abs(first!.end - CHANGE) <= 15, `${first!.end}`);
  t.ok(own[2]![0]! > 0.79 && own[3]![1]! > 0.79, 'each with its own print');
});

t.test('divide() leaves a doubtful piece of one voice as it is', async (t) => {
  const { heard, listen } = listener();
  const piece = { ...BOTH, first: CHANGE - 130, end: CHANGE };
  const prints = [ANN, BOB, print(0.6, 0.5)];
  const [parts, own] = await divide([...ALONE, piece], prints, [ANN, BOB], listen);
  t.ok(heard.length > 0 && heard.every(({ first, end }) => first >= piece.first && end <= piece.end), 'it was looked at');
  t.strictSame([parts, own], [[...ALONE, piece], prints]);
});

t.test('divide() looks at no piece that is clear, or short, or of the only voice', async (t) => {
  const { heard, listen } = listener();
  await divide([...ALONE, BOTH], [ANN, BOB, print(0.7, 0.4)], [ANN, BOB], listen);
  await divide([...ALONE, { ...BOTH, end: 500 }], [ANN, BOB, print(0.6, 0.5)], [ANN, BOB], listen);
  await divide([...ALONE, BOTH], [ANN, ANN, print(0.6, 0.5)], [ANN], listen);
  t.strictSame(await divide([], [], [], listen), [[], []]);
  t.strictSame(heard, []);
});

t.test('divide() measures a piece by the voice that the others have, of which itself may be the larger part', async (t) => {
  const { listen } = listener();
  const mixed = print(0.6, 0.6);
  const bobs = { track: 0, first: 360, end: 390 }; // too short to be a measure
  const voices = [ANN, print(0.55, 0.8)]; // Bob's is made of the mixed piece for the most part: 0.81 like it, 0.21 more than Ann's
  t.equal(
    (await divide([ALONE[0]!, bobs, BOTH], [ANN, BOB, mixed], voices, listen))[0].length,
    3,
    'found in itself where there is no other',
  );
  t.equal((await divide([...ALONE, BOTH], [ANN, BOB, mixed], voices, listen))[0].length, 4);
});
