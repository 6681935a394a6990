import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { install } from '../../../models/install/install.ts';

const HOUR = 3600; // seconds
const TRIES = 10_000; // if folders are never touched
const OWN = `.model.${process.pid}.0a1b2c3d.partial`; // as earlier versions name it; in a new container the process id is often the same
const OTHER = '.model.99999999.0a1b2c3d.partial'; // of a process that this container does not see

/** Sets the last write of each path, the last one last. */
function age(seconds: number, ...paths: string[]): void {
  const then = Date.now() / 1000 - seconds;
  for (const path of paths) utimesSync(path, then, then);
}

/** Runs an import that fails, having removed what others left. */
async function importSomething(home: string): Promise<void> {
  await install('something', home, () => Promise.reject(new Error('no such checkpoint'))).catch(() => {});
}

t.test('install() removes what killed imports left an hour ago, whatever their process ids', async (t) => {
  const left = [OWN, OTHER, `${OTHER}.reference.partial`, `${OTHER}.probe.partial`];
  const home = t.testdir({ models: Object.fromEntries(left.map((name) => [name, { 'encoder.onnx': '' }])) });
  const unpacked = join(home, 'models', `${OTHER}.unpacked.partial`);
  writeFileSync(unpacked, '');
  const folders = left.map((name) => join(home, 'models', name));
  age(HOUR + 100, ...folders.map((folder) => join(folder, 'encoder.onnx')), ...folders, unpacked);
  await importSomething(home);
  t.strictSame(readdirSync(join(home, 'models')), []);
});

t.test('install() spares what was written to within the hour, and models with such a name', async (t) => {
  const home = t.testdir({
    models: { [OWN]: {}, [OTHER]: { deep: { 'encoder.onnx': '', 'decoder.onnx': '' } }, 'mine.partial': { 'encoder.onnx': '' } },
  });
  const models = join(home, 'models');
  const deep = join(models, OTHER, 'deep');
  age(HOUR + 100, join(deep, 'decoder.onnx'), deep, join(models, OTHER), join(models, 'mine.partial', 'encoder.onnx'));
  age(HOUR + 100, join(models, 'mine.partial'));
  age(HOUR - 100, join(models, OWN), join(deep, 'encoder.onnx'));
  await importSomething(home);
  t.strictSame(readdirSync(models), [OWN, OTHER, 'mine.partial'].sort());
});

t.test('install() marks its folders as being written to while it measures', async (t) => {
  const home = t.testdir();
  const make = async (partial: string) => {
    const folders = [partial, `${partial}.reference.partial`];
    mkdirSync(folders[1]!);
    age(2 * HOUR, ...folders);
    const isOld = (folder: string) => statSync(folder).mtimeMs < Date.now() - 1000 * HOUR;
    for (let tries = 0; folders.some(isOld) && tries < TRIES; tries++) await sleep(1); // nothing is written meanwhile
    t.notOk(folders.some(isOld));
    await importSomething(home);
    t.ok(folders.every((folder) => existsSync(folder)));
    throw new Error('enough');
  };
  await t.rejects(install('slow', home, make, 1), { message: 'enough' });
  t.strictSame(readdirSync(join(home, 'models')), []);
});
