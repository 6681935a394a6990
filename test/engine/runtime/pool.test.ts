import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openPool } from '../../../engine/runtime/pool.ts';
import { SHIPPED_FOLDER } from '../../../models/manifest.ts';
import { addTiny, TINY } from '../../support/engine/models.ts';

const home = t.testdir();
await addTiny(home);
const MODELS = { whisper: join(home, 'models', TINY), diarization: join(SHIPPED_FOLDER, 'diarization') };
const SECOND = 16_000;
const never = new AbortController().signal;

/** A window that takes long to decode: noise that is marked as speech. */
function noise(seconds = 3) {
  const samples = Float32Array.from({ length: seconds * SECOND }, (_, i) => 0.1 * Math.sin(i * i * 0.001) * Math.sin(i * 0.0007));
  const read = async (room: Float32Array) => {
    room.set(samples);
    return room.subarray(0, samples.length);
  };
  return { read, speech: [{ start: 0, end: seconds }], peak: 1, language: 'en', expected: null, vocabulary: '', accurate: false };
}

t.test('openPool() reports a missing model', async (t) => {
  const models = { whisper: '/nowhere', diarization: MODELS.diarization };
  await t.rejects(openPool({ models, threads: 1 }), { name: 'EngineError', code: 'ENOENT', message: /nowhere/ });
});

t.test('openPool() reports a damaged model while other threads are loading theirs', async (t) => {
  const whisper = join(t.testdir(), 'damaged');
  cpSync(MODELS.whisper, whisper, { recursive: true });
  writeFileSync(join(whisper, 'decoder.onnx'), 'not a model');
  await t.rejects(openPool({ models: { ...MODELS, whisper }, threads: 2 }), { name: 'EngineError', message: /decoder\.onnx/ });
});

t.test('openPool() shares threads among files', async (t) => {
  const pool = await openPool({ models: MODELS, threads: 2, rows: 4 });
  t.teardown(() => pool.close());
  t.equal(pool.device, 'cpu');
  t.strictSame(pool.languages, ['en']);

  t.test('openPool(): a failure is returned with its message, and the thread continues', async (t) => {
    const job = pool.job(never);
    const unequal = [new Float32Array(SECOND), new Float32Array(2 * SECOND)];
    await t.rejects(job.embed(unequal), { name: 'EngineError' });
    const [print] = await job.embed([new Float32Array(SECOND).fill(0.01)]);
    t.equal(print!.length, 192);
  });

  t.test('openPool(): an aborted file starts nothing more, and its decoding ends at the next step', async (t) => {
    const stop = new AbortController();
    const job = pool.job(stop.signal);
    const before = pool.concurrency + 2;
    let read = 0;
    const windows = Array.from({ length: 24 }, () => {
      const window = noise();
      return job.recognise({
        ...window,
        read(buffer) {
          if (++read === before) stop.abort(new Error('deleted')); // earlier windows are being encoded or decoded, later ones wait
          return window.read(buffer);
        },
      });
    });
    const outcomes = await Promise.allSettled(windows);
    t.equal(read, before);
    const stopped = outcomes.filter((outcome) => outcome.status === 'rejected');
    t.ok(stopped.length >= windows.length - before, `${stopped.length} of ${windows.length} stopped, ${before} had been read`);
    for (const { reason } of stopped as PromiseRejectedResult[]) t.equal(reason.message, 'deleted');
  });

  t.test('openPool(): a short file does not wait for a long one', async (t) => {
    const stop = new AbortController();
    const long = pool.job(stop.signal);
    let finished = 0;
    const windows = Array.from({ length: 30 }, () =>
      long.recognise(noise()).then(
        () => finished++,
        () => {},
      ),
    );
    await pool.job(never).recognise(noise());
    t.ok(finished < 20, `${finished} of 30 windows of the long file finished first`);
    stop.abort();
    await Promise.all(windows);
  });

  t.test('openPool(): windows are read lazily, so that many files take no more memory than a few', async (t) => {
    const stop = new AbortController();
    const buffers = new Set<Float32Array>();
    const files = Array.from({ length: 3 }, () => pool.job(stop.signal));
    const windows = files.flatMap((job) =>
      Array.from({ length: 3 * pool.concurrency }, () => {
        const { read, ...window } = noise();
        const seen = (buffer: Float32Array) => {
          buffers.add(buffer);
          return read(buffer);
        };
        return job.recognise({ ...window, read: seen }).catch(() => {});
      }),
    );
    await pool.job(never).recognise(noise());
    stop.abort();
    await Promise.all(windows);
    t.ok(buffers.size <= pool.concurrency + files.length, `${buffers.size} buffers for ${windows.length} windows`);
  });

  t.test('openPool(): only the window that cannot be read fails', async (t) => {
    const job = pool.job(never);
    const read = async () => Promise.reject(new Error('cannot read the disk'));
    await t.rejects(job.recognise({ ...noise(), read }), { message: 'cannot read the disk' });
    t.ok(await job.recognise(noise()));
  });

  t.test('openPool(): threads survive many concurrent runs of several models', async (t) => {
    const job = pool.job(never);
    const windows = Array.from({ length: 20 }, () => job.segment([new Float32Array(10 * SECOND)]));
    const prints = Array.from({ length: 20 }, () => job.embed([new Float32Array(SECOND).fill(0.01)]));
    const [locals, vectors] = [await Promise.all(windows), await Promise.all(prints)];
    t.ok(
      locals.every(([local]) => local!.speech.every((p) => p < 128)),
      'silence contains no speech',
    );
    t.strictSame(new Set(vectors.map(([v]) => v!.join())).size, 1, 'the same sound yields the same embedding each time');
  });
});
