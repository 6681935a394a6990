import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type ClaimedTranscription, claimProbe } from '../../../db/jobs/claim.ts';
import { keepMedia, openMedia } from '../../../engine/tasks/media.ts';
import { taskBench } from '../../support/engine/tasks.ts';
import { eventually } from '../../support/processes/service.ts';

const bench = await taskBench(t);
const workspace = await bench.workspace({ concurrency: 10 });
const { signal } = new AbortController();
const KEPT_MS = 20_000;

async function claimed(): Promise<ClaimedTranscription> {
  await bench.upload(workspace, Buffer.alloc(2000));
  return (await claimProbe(bench.db, bench.engineHere().id))!;
}

t.test('openMedia() hands over the copy that was kept, once, and it stays as long as it is used', async (t) => {
  const engine = bench.engineHere();
  const [used, unused] = [await claimed(), await claimed()];
  const plain = await openMedia(engine, used, signal);
  await keepMedia(engine, used.lease.id, plain);
  const other = await openMedia(engine, unused, signal);
  await keepMedia(engine, unused.lease.id, other);
  const again = await openMedia(engine, used, signal);
  t.equal(again.path, plain.path);
  const third = await openMedia(engine, used, signal);
  t.not(third.path, plain.path, 'another attempt does not share it: whoever is done first removes it');
  await third.close();
  await sleep(KEPT_MS);
  await eventually(() => !existsSync(other.path), 'the removal of the copy that nobody has taken');
  t.ok(existsSync(again.path));
  await again.close();
  t.notOk(existsSync(again.path));
});

t.test('keepMedia() keeps no more than four copies', async (t) => {
  const engine = bench.engineHere();
  const kept: string[] = [];
  for (let i = 0; i < 5; i++) {
    const claim = await claimed();
    const plain = await openMedia(engine, claim, signal);
    await keepMedia(engine, claim.lease.id, plain);
    kept.push(plain.path);
  }
  t.strictSame(kept.map(existsSync), [true, true, true, true, false]);
});

t.test('openMedia() leaves no part of a copy that fails', async (t) => {
  const copies = async () => (await bench.files()).filter((path) => !path.includes('/spool/')).sort();
  const before = await copies();
  const open: typeof bench.spool.open = async (...parameters) => {
    await bench.spool.open(...parameters);
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  };
  const trouble = { over: async () => true, look: async () => true } as never;
  const engine = bench.engineHere({ spool: { ...bench.spool, open }, trouble });
  await t.rejects(openMedia(engine, await claimed(), signal), { code: 'ENOSPC' }, 'the spool can be read: it is the space that is missing');
  const away = bench.engineHere({ spool: { ...bench.spool, open }, trouble: { look: async () => false } as never });
  await t.rejects(openMedia(away, await claimed(), signal), { code: 'EIO', message: /the spool is unavailable/ });
  t.strictSame(await copies(), before);
});
