import { randomUUID } from 'node:crypto';
import { mkdir, readdir, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import t from 'tap';
import { openScratch } from '../../../engine/tasks/scratch.ts';

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

t.test('place() keeps files of up to 256 MiB in memory, and of no more than a quarter of the free memory of /dev/shm', async (t) => {
  const scratch = await openScratch(installation, randomUUID(), t.testdir());
  t.teardown(() => scratch.close());
  const onDisk = async (bytes: number) => dirname(await scratch.place(bytes)) === scratch.folder;
  if (await onDisk(1)) return t.comment('there is no /dev/shm');
  const { bavail, bsize } = await statfs('/dev/shm');
  const most = Math.min(256 * 2 ** 20, (bavail * bsize) / 4);
  t.equal(await onDisk(0.8 * most), false);
  t.equal(await onDisk(1.25 * most), true);
});

t.test('clean() removes folders left by dead engines of this installation, and nothing else', async (t) => {
  const home = t.testdir();
  const [own, living, dead] = [randomUUID(), randomUUID(), randomUUID()];
  const scratch = await openScratch(installation, own, home);
  const base = dirname(scratch.folder);
  const name = (id: string, of = installation) => `longhand-${of.slice(0, 12)}-${id}`;
  const foreign = name(dead, randomUUID().replaceAll('-', ''));
  for (const folder of [name(living), name(dead), foreign, 'unrelated']) await mkdir(join(base, folder));
  await writeFile(join(base, name(dead), 'recording'), 'x');
  t.equal(await scratch.clean(async (ids) => new Set(ids.filter((id) => id === living))), 1);
  t.strictSame((await readdir(base)).sort(), [name(own), name(living), foreign, 'unrelated'].sort());
  await scratch.close();
});
