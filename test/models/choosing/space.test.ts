import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { requireSpace } from '../../../models/choosing/space.ts';
import { importModel } from '../../../models/install/importing.ts';
import { noDisks, smallDisk } from '../../support/processes/disk.ts';
import { SHAPES, writeCheckpoint } from '../checkpoint.ts';
import { found } from '../measured.ts';

const MIB = 2 ** 20;
const HOUR = 3600; // seconds
const skip = noDisks() ?? false;

t.test('requireSpace() first removes what a killed import left an hour ago, and names what it may have left since', { skip }, async (t) => {
  const { path: home } = smallDisk(t, 20 * MIB);
  const left = join(home, 'models', '.model.0a1b2c3d.partial');
  mkdirSync(left, { recursive: true });
  const file = join(left, 'encoder.onnx');
  writeFileSync(file, Buffer.alloc(15 * MIB));
  await t.rejects(requireSpace(home, 10 * MIB), {
    message: /are free, but it needs .*; delete \.model\.0a1b2c3d\.partial there if that import was killed/,
  });
  const then = Date.now() / 1000 - HOUR - 100;
  for (const path of [file, left]) utimesSync(path, then, then);
  await t.resolves(requireSpace(home, 10 * MIB));
});

t.test('requireSpace() looks at the disk of the models, which may be a volume of its own', { skip }, async (t) => {
  const { path } = smallDisk(t, 20 * MIB);
  const home = t.testdir();
  symlinkSync(path, join(home, 'models'));
  await t.rejects(requireSpace(home, 30 * MIB), { message: /Cannot write to .*models: 0\.0 GiB are free, but it needs 0\.0 GiB/ });
});

t.test('importModel() says that a disk has become full meanwhile, and keeps nothing', { skip }, async (t) => {
  const disk = smallDisk(t, 90 * MIB);
  const checkpoint = join(t.testdir(), 'checkpoint');
  writeCheckpoint(checkpoint, SHAPES.plain!, 'F16');
  const measure = async () => {
    disk.fill(0);
    return found(0.1);
  };
  await t.rejects(importModel(checkpoint, { home: disk.path, name: 'x', measure, variant: 'int8' }), {
    message: /Cannot write the model x to .*models: the disk is full; nothing of it was kept; free some space/,
  });
  t.strictSame(readdirSync(join(disk.path, 'models')), []);
});
