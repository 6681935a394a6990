import fs from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { openLedger } from '../../scripts/commands/ledger.ts';
import { sentence } from '../../scripts/commands/sentence.ts';

t.test('sentence() says that a file system is read-only where Node says that the folder to be created does not exist', async (t) => {
  const folder = join(t.testdir(), 'models', 'new');
  const error = Object.assign(new Error('ENOENT'), { code: 'ENOENT', syscall: 'mkdir', path: folder });
  t.equal(sentence(error), `Cannot use ${folder}: no such file or folder`);
  t.intercept(fs, 'accessSync', {
    value: () => {
      throw Object.assign(new Error('EROFS'), { code: 'EROFS' });
    },
  });
  t.equal(sentence(error), `Cannot use ${folder}: the file system is read-only`);
  t.equal(sentence(Object.assign(error, { syscall: 'open' })), `Cannot use ${folder}: no such file or folder`);
});

t.test('sentence() says of a folder that it cannot be read as a file', async (t) => {
  const error = await readFile(t.testdir()).catch((error: unknown) => error);
  t.equal(sentence(error), 'it is a folder, not a file');
  const path = t.testdirName;
  try {
    openLedger(path);
  } catch (error) {
    t.equal(sentence(error), `Cannot use ${path}: it is a folder, not a file`);
  }
});

t.test('sentence() says of a folder that it is in what is not one', async (t) => {
  const file = join(t.testdir({ file: '' }), 'file', 'in');
  const error = await mkdir(file, { recursive: true }).catch((error: unknown) => error);
  t.equal(sentence(error), `Cannot use ${file}: part of the path is not a folder`);
});
