import t from 'tap';
import type { DecodeJob } from '../../../../engine/asr/whisper/decode-job.ts';
import { type Owners, type Pending, Queue } from '../../../../engine/asr/whisper/queue.ts';
import { Pace } from '../../../../engine/runtime/interleaver.ts';

const LONG = 1; // files
const OTHER = 2;
const NOTE = 3;

function request(file: number, more: Partial<Pending> = {}): Pending {
  const options = { timestamps: true, speechAware: true, beams: 1, temperature: 0 };
  return { file, options, ...more } as Pending;
}

/** Windows that are being decoded. */
function decoding(...requests: Pending[]): Owners {
  return new Map(requests.map((each) => [{ file: each.file, options: each.options } as DecodeJob, each]));
}

function queue(requests: Pending[], pace?: Pace): Queue {
  const made = new Queue(pace);
  for (const each of requests) made.add(each);
  return made;
}

const plenty = () => 8;

t.test('first windows go before encoded ones, these before the rest, and the rest by how many rows their file has', (t) => {
  const [long, other, encoded, first] = [request(LONG), request(OTHER), request(LONG, { urgent: true }), request(NOTE, { first: true })];
  const waiting = queue([long, other, encoded, first]);
  const owners = decoding(request(LONG));
  const served = Array.from({ length: 4 }, () => waiting.next(owners, plenty));
  t.strictSame(
    served.map((each) => [first, encoded, other, long].indexOf(each!)),
    [0, 1, 2, 3],
  );
  t.equal(waiting.next(owners, plenty), null);
  t.end();
});

t.test('an order with more beams than there is room for waits', (t) => {
  const waiting = queue([request(LONG, { options: { timestamps: true, speechAware: true, beams: 3, temperature: 0 } })]);
  t.equal(
    waiting.next(decoding(), () => 2),
    null,
  );
  t.ok(waiting.next(decoding(), () => 3));
  t.end();
});

t.test('beside a first window those of other files are taken in every forty steps, those of its own at once', (t) => {
  const pace = new Pace();
  pace.begin();
  const owners = decoding(request(NOTE, { first: true }));
  const hurried = new Set([NOTE]);
  const [one, two, own] = [request(LONG), request(LONG), request(NOTE)];
  const waiting = queue([one, two, own], pace);
  t.strictSame(waiting.hurried(owners), hurried);
  pace.step(hurried);
  pace.ran();
  t.equal(waiting.next(owners, plenty), own);
  for (let step = 1; step < 40; step++) pace.step(hurried);
  t.equal(waiting.next(owners, plenty), null);
  pace.step(hurried);
  t.equal(waiting.next(owners, plenty), one);
  t.equal(waiting.next(owners, plenty), null, 'nor the other one right after');
  t.equal(waiting.next(decoding(), plenty), two, 'but once nobody is in a hurry');
  t.end();
});
