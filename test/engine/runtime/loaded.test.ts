import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Loaded } from '../../../engine/runtime/loaded.ts';

/** Stub models that record when they are opened and closed. */
function shelf(bytes: number, { idleMs = 60_000, retryMs = 60_000, broken = new Set<string>() } = {}) {
  const events: string[] = [];
  const loaded = new Loaded<{ bytes: number; name: string }, string>({
    bytes,
    idleMs,
    retryMs,
    async open({ name }) {
      events.push(`open ${name}`);
      if (broken.has(name)) throw new Error(`${name} is damaged`);
      return name;
    },
    async close(name) {
      events.push(`close ${name}`);
    },
  });
  const use = (name: string, work = async (opened: string) => opened, size = 4) => loaded.use(name, { bytes: size, name }, work);
  return { events, loaded, use };
}

t.test('Loaded opens a model at its first use only, also for several users at once', async (t) => {
  const { events, use } = shelf(10);
  t.strictSame(await Promise.all([use('a'), use('a'), use('b')]), ['a', 'a', 'b']);
  await use('a');
  t.strictSame(events, ['open a', 'open b']);
});

t.test('Loaded closes the least recently used model before it opens one for which memory is missing', async (t) => {
  const { events, loaded, use } = shelf(10);
  await use('a');
  await use('b');
  await use('a');
  await use('c');
  t.strictSame(events, ['open a', 'open b', 'close b', 'open c']);
  t.strictSame(loaded.names, ['c', 'a']);
  await use('huge', undefined, 99);
  t.strictSame(
    events.slice(4).sort(),
    ['close a', 'close c', 'open huge'],
    'a model that needs more memory than there is, is loaded alone',
  );
  t.equal(events.at(-1), 'open huge');
});

t.test('Loaded does not close a model while it is used', async (t) => {
  const { events, use } = shelf(4);
  let finish = () => {};
  const working = use('a', (opened) => new Promise((resolve) => (finish = () => resolve(opened))));
  await sleep(1);
  const next = use('b');
  await sleep(1);
  t.strictSame(events, ['open a'], 'b waits for the memory of a');
  finish();
  t.equal(await working, 'a');
  t.equal(await next, 'b');
  t.strictSame(events, ['open a', 'close a', 'open b']);
});

t.test('Loaded closes a model that is not used for a while', async (t) => {
  const { events, loaded, use } = shelf(10, { idleMs: 5 });
  await use('a');
  while (loaded.names.length) await sleep(5);
  await loaded.close();
  t.strictSame(events, ['open a', 'close a']);
});

t.test('Loaded reports why a model cannot be loaded, and does not try again at every use', async (t) => {
  const { events, use } = shelf(10, { broken: new Set(['a']) });
  await t.rejects(use('a'), /a is damaged/);
  await t.rejects(use('a'), /a is damaged/);
  t.strictSame(events, ['open a']);
});

t.test('Loaded tries again later to load a model that could not be loaded', async (t) => {
  const broken = new Set(['a']);
  const { events, loaded, use } = shelf(10, { retryMs: 1, broken });
  await t.rejects(use('a'), /a is damaged/);
  broken.clear();
  await sleep(5);
  t.equal(await use('a'), 'a');
  await loaded.close();
  t.strictSame(events, ['open a', 'open a', 'close a']);
});
