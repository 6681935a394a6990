import { randomBytes } from 'node:crypto';
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { loadMasterKeys, parseMasterKeys } from '../../../db/secrets/master-key.ts';
import { withoutLinks } from '../../support/processes/links.ts';

t.test('loadMasterKeys() creates one key with mode 0600, shared by all processes that start concurrently', async (t) => {
  const home = join(t.testdir(), 'state');
  const all = await Promise.all(Array.from({ length: 8 }, () => loadMasterKeys({ LONGHAND_HOME: home })));
  t.equal(new Set(all.map((keys) => keys[0]!.toString('hex'))).size, 1);
  t.equal(all[0]![0]!.length, 32);
  t.equal((await stat(join(home, 'master.key'))).mode & 0o777, 0o600);
  t.strictSame(await readdir(home), ['master.key']);
  t.strictSame(await loadMasterKeys({ LONGHAND_HOME: home }), all[0]);
});

t.test('loadMasterKeys() creates one key where there are no hard links, whoever else does, and after a killed one', async (t) => {
  for (const code of ['EPERM', 'ENOTSUP', 'ENOSYS']) {
    withoutLinks(t, code);
    const home = join(t.testdir(), code);
    await mkdir(join(home, 'master.key.gate'), { recursive: true });
    await utimes(join(home, 'master.key.gate'), 0, 0); // left by a process that was killed
    const all = await Promise.all(Array.from({ length: 8 }, () => loadMasterKeys({ LONGHAND_HOME: home })));
    t.equal(new Set(all.map((keys) => keys[0]!.toString('hex'))).size, 1);
    t.strictSame(await readdir(home), ['master.key']);
  }
  withoutLinks(t, 'EIO');
  await t.rejects(loadMasterKeys({ LONGHAND_HOME: join(t.testdir(), 'broken') }), { code: 'EIO' });
});

t.test('loadMasterKeys() prefers the variable, then the named file', async (t) => {
  const [a, b, c] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  const file = join(t.testdir(), 'keys');
  await writeFile(file, `${c!.toString('base64')}\n`);
  const settings = { LONGHAND_HOME: t.testdirName, LONGHAND_MASTER_KEY_FILE: file };
  t.strictSame(await loadMasterKeys(settings), [c]);
  await t.rejects(loadMasterKeys({ ...settings, LONGHAND_MASTER_KEY_FILE: `${file}2` }), {
    message: `Cannot read the master key: LONGHAND_MASTER_KEY_FILE names ${file}2 (ENOENT)`,
  });
  t.strictSame(await loadMasterKeys({ ...settings, LONGHAND_MASTER_KEY: `${a!.toString('base64')}, ${b!.toString('base64')}` }), [a, b]);
});

t.test('parseMasterKeys() reports what is wrong without revealing the key', (t) => {
  t.throws(() => parseMasterKeys('', 'X'), /X is empty/);
  const short = randomBytes(16).toString('base64');
  t.throws(() => parseMasterKeys(short, 'X'), /number 1 in X holds 16 bytes/);
  t.notOk(
    (() => {
      try {
        parseMasterKeys(short, 'X');
      } catch (error) {
        return String(error);
      }
    })()?.includes(short),
  );
  t.end();
});
