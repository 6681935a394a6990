import { randomUUID } from 'node:crypto';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import { openScratch } from '../../../engine/tasks/scratch.ts';
import { noDisks } from '../../support/processes/disk.ts';
import { finish, ROOT, RUN } from '../../support/processes/processes.ts';

const installation = randomUUID().replaceAll('-', '');
delete process.env.TMPDIR;

t.test('openScratch() creates private folders that no other user can list, and close() removes them', async (t) => {
  const home = t.testdir();
  const scratch = await openScratch(installation, randomUUID(), home);
  const places = [await scratch.place(1000), await scratch.place(10 * 2 ** 30)];
  for (const path of places) {
    t.equal((await stat(dirname(path))).mode & 0o066, 0, 'no other user may read or write the folder');
    await writeFile(path, 'x', { mode: 0o600 });
    await scratch.share(path);
    t.equal((await stat(path)).mode & 0o777, 0o600);
  }
  t.equal(dirname(places[1]!), scratch.folder, 'large files are on disk');
  await scratch.close();
  for (const path of places) await t.rejects(stat(dirname(path)), { code: 'ENOENT' });
});

t.test(
  'place() keeps files in /dev/shm up to 256 MiB if more than four times as much is free there, and others on disk',
  { skip: noDisks() ?? false },
  async (t) => {
    const source = `
      import { statfs } from 'node:fs/promises';
      import { dirname } from 'node:path';
      import { openScratch } from '${join(ROOT, 'engine/tasks/scratch.ts')}';
      const scratch = await openScratch('${installation}', '${randomUUID()}', '${t.testdir()}');
      const { bavail, bsize } = await statfs('/dev/shm');
      const most = Math.min(256 * 1_048_576, (bavail * bsize) / 4 - 1);
      const places = await Promise.all([most, most + 1].map((bytes) => scratch.place(bytes)));
      console.log(most, ...places.map((path) => (dirname(path) === scratch.folder ? 'disk' : 'memory')));`;
    const program = join(t.testdir({ 'program.mjs': source }), 'program.mjs');
    for (const [size, most] of [
      [2 ** 24, 2 ** 22 - 1],
      [2 ** 31, 2 ** 28],
    ] as const) {
      const mounted = `mount -t tmpfs -o size=${size},mode=1777 none /dev/shm && exec "$@"`; // seen by this program only
      const { stdout, stderr } = await finish('unshare', ['--mount', 'sh', '-c', mounted, 'sh', process.execPath, ...RUN, program]);
      t.equal(stdout.trim(), `${most} memory disk`, stderr);
    }
  },
);

t.test('clean() removes folders left by engines that stay dead for two heartbeats, and nothing else', async (t) => {
  const home = t.testdir();
  const [own, living, dead] = [randomUUID(), randomUUID(), randomUUID()];
  let now = 0;
  const scratch = await openScratch(installation, own, home, () => now);
  const base = dirname(scratch.folder);
  const name = (id: string, of = installation) => `longhand-${of.slice(0, 12)}-${id}`;
  const foreign = name(dead, randomUUID().replaceAll('-', ''));
  for (const folder of [name(living), name(dead), foreign, 'unrelated']) await mkdir(join(base, folder));
  await writeFile(join(base, name(dead), 'recording'), 'x');
  const clean = (at: number, alive: string[]) => {
    now = at;
    return scratch.clean(async (ids) => new Set(ids.filter((id) => alive.includes(id))));
  };
  t.equal(await clean(0, []), 0, 'a clock that jumps makes every engine look dead');
  t.equal(await clean(15_000, [living]), 0);
  t.equal(await clean(29_000, [living]), 0);
  t.equal(await clean(31_000, [living]), 1);
  t.strictSame((await readdir(base)).sort(), [name(own), name(living), foreign, 'unrelated'].sort());
  t.equal(await clean(60_000, []), 0, 'an engine that has lived since is not suspected from before');
  t.equal(await clean(91_000, []), 1);
  t.strictSame((await readdir(base)).sort(), [name(own), foreign, 'unrelated'].sort());
  await scratch.close();
});

t.test('clean() removes the other folders of dead engines when one cannot be removed', { skip: noDisks() ?? false }, async (t) => {
  const home = t.testdir();
  const dead = Array.from({ length: 4 }, () => `longhand-${installation.slice(0, 12)}-${randomUUID()}`);
  for (const name of dead) await mkdir(join(home, 'scratch', name), { recursive: true });
  const source = `
    import { readdir } from 'node:fs/promises';
    import { openScratch } from '${join(ROOT, 'engine/tasks/scratch.ts')}';
    let now = 0;
    const scratch = await openScratch('${installation}', '${randomUUID()}', '${home}', () => now);
    const clean = () => scratch.clean(async () => new Set()).catch(({ code }) => code);
    await clean();
    now = 31_000;
    const result = await clean();
    await scratch.close();
    console.log(result, ...(await readdir('${join(home, 'scratch')}')));`;
  const program = join(home, 'program.mjs');
  await writeFile(program, source);
  const [stuck] = await readdir(join(home, 'scratch')); // the first to be removed
  const mounted = `mount -t tmpfs none '${join(home, 'scratch', stuck!)}' && exec "$@"`; // what is mounted cannot be removed
  const { stdout, stderr } = await finish('unshare', ['--mount', 'sh', '-c', mounted, 'sh', process.execPath, ...RUN, program]);
  t.equal(stdout.trim(), `EBUSY ${stuck}`, stderr);
});
