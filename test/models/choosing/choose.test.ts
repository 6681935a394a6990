import { cpSync, rmSync, truncateSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { Variant } from '../../../models/build/graph/graph.ts';
import { builtFrom, CATALOGUE, listed } from '../../../models/choosing/catalogue.ts';
import { advice, bestInstalled, couldCarry, keepCheck, unconsidered } from '../../../models/choosing/choose.ts';
import { processor } from '../../../models/choosing/cpu.ts';
import { fittingModel } from '../../../models/choosing/fit.ts';
import { routedModels } from '../../../models/choosing/routes.ts';
import { type DeviceName, readWhisper, writeDescriptor } from '../../../models/descriptor.ts';
import { PINS } from '../../../models/hub/pins.ts';
import { importModel } from '../../../models/install/importing.ts';
import { listModels } from '../../../models/store.ts';
import { SHAPES, writeCheckpoint } from '../checkpoint.ts';

const GIB = 2 ** 30;

function check(errors: number, rtfx: number) {
  const rates = [{ language: 'en', clips: 10, words: 200, errors }];
  return {
    at: '2026-01-01T00:00:00.000Z',
    machine: `${processor()}, 2 threads`,
    rates,
    invented: 0,
    coverage: 0.9,
    rtfx,
    threadBytes: 1e8,
  };
}

/** Installs a model with these languages and their tokens. */
async function addModel(home: string, name: string, languages: Record<string, number>, variant: Variant = 'int8'): Promise<void> {
  const checkpoint = join(home, 'checkpoint');
  writeCheckpoint(checkpoint, SHAPES.plain!, 'F16');
  const { folder } = await importModel(checkpoint, { home, name, variant });
  const descriptor = readWhisper(folder);
  writeDescriptor(folder, { ...descriptor, tokens: { ...descriptor.tokens, languages } });
}

t.test('listed() accepts short names with and without whisper-, and common names', async (t) => {
  t.equal(listed('whisper-small')?.repository, 'openai/whisper-small');
  t.equal(listed('turbo')?.name, 'large-v3-turbo');
  t.equal(listed('distil-large-v3.5')?.repository, 'distil-whisper/distil-large-v3.5');
  t.equal(listed('huge'), undefined);
  t.equal(new Set(CATALOGUE.map(({ name }) => name)).size, CATALOGUE.length);
});

t.test('builtFrom() tells a model by its weights or the repository of its source, not by its name', (t) => {
  const model = (sha256: string, source: string) => ({
    name: 'medium',
    shipped: false,
    source,
    descriptor: { architecture: 'whisper', checkpoint: { sha256, parameters: 1 } } as never,
  });
  t.equal(builtFrom(model('0', '/home/me/medium')), undefined);
  t.equal(builtFrom(model(PINS.small!.sha256, '/home/me/medium'))?.name, 'small');
  t.equal(builtFrom(model('0', 'https://huggingface.co/openai/whisper-tiny@c0ffee; converted from int8'))?.name, 'tiny');
  t.equal(builtFrom({ ...model('0', 'OpenAI'), name: 'whisper-base', shipped: true })?.name, 'base');
  t.end();
});

t.test('couldCarry() names a better model only where cores and memory suffice', async (t) => {
  t.equal(couldCarry({ cores: 1, memoryBytes: 2 * GIB }, ['whisper-base']), null);
  t.equal(couldCarry({ cores: 2, memoryBytes: 8 * GIB }, ['whisper-base'])?.name, 'small');
  t.equal(couldCarry({ cores: 16, memoryBytes: 64 * GIB }, ['whisper-base'])?.name, 'large-v3');
  t.equal(couldCarry({ cores: 2, memoryBytes: 8 * GIB }, ['whisper-base', 'whisper-small']), null, 'it is already installed');
  t.match(
    couldCarry({ cores: 1, memoryBytes: 64 * GIB }, ['whisper-base']),
    { name: 'large-v3-turbo', rtfx: 30 / 7 },
    'large-v3 reaches 2.5',
  );
  t.match(couldCarry({ cores: 2, memoryBytes: 64 * GIB }, ['whisper-base']), { name: 'large-v3', rtfx: 5 });
});

t.test('advice() returns one line with the command, or nothing', async (t) => {
  t.match(
    advice({ cores: 2, memoryBytes: 8 * GIB }, ['whisper-base']),
    /^This machine supports .* small .*7\.6 % WER.*: scripts\/longhand models pull small$/,
  );
  t.match(advice({ cores: 16, memoryBytes: 64 * GIB }, ['whisper-base', 'small']), /large-v3 \(3\.91 % WER instead of 7\.6,/);
  t.equal(advice({ cores: 1, memoryBytes: GIB }, ['whisper-base']), '');
});

t.test('bestInstalled() selects the model with the lowest WER that is fast enough on this machine', async (t) => {
  const home = t.testdir();
  const room = { cores: 2, memoryBytes: 8 * GIB };
  t.equal((await bestInstalled(home, room)).name, 'whisper-base', 'no other model has been measured');
  await addModel(home, 'good', { en: 258, de: 259 });
  keepCheck('good', home, check(40, 8));
  t.equal((await bestInstalled(home, room)).name, 'whisper-base', 'unchecked, yet known to be better than that');
  cpSync(join(home, 'models', 'good'), join(home, 'models', 'slow'), { recursive: true });
  keepCheck('whisper-base', home, check(20, 40));
  keepCheck('good', home, check(10, 8));
  keepCheck('slow', home, check(2, 1));
  t.equal((await bestInstalled(home, room)).name, 'good');
  t.equal((await bestInstalled(home, { cores: 2, memoryBytes: 1e6 })).name, 'whisper-base', 'not enough memory for the other');
});

t.test('bestInstalled() passes over a model of which a file is missing or cut short', async (t) => {
  const home = t.testdir();
  const best = async () => (await bestInstalled(home, { cores: 2, memoryBytes: 8 * GIB })).name;
  keepCheck('whisper-base', home, check(20, 40));
  for (const [name, damage] of [
    ['cut', (file: string) => truncateSync(file, 1000)],
    ['gone', (file: string) => rmSync(file)],
  ] as const) {
    await addModel(home, name, { en: 258, de: 259 });
    keepCheck(name, home, check(2, 40));
    t.equal(await best(), name);
    damage(join(home, 'models', name, 'decoder.onnx'));
    t.equal(await best(), 'whisper-base');
  }
});

t.test('bestInstalled() does not consider a model checked on another processor, and expects less speed of fewer cores', async (t) => {
  const home = t.testdir();
  const cores = availableParallelism();
  const best = async () => (await bestInstalled(home, { cores, memoryBytes: 8 * GIB })).name;
  const seen = async () => unconsidered(await listModels(home), home);
  await addModel(home, 'good', { en: 258, de: 259 });
  keepCheck('good', home, { ...check(2, 8), machine: 'Another processor, 32 threads' });
  t.equal(await best(), 'whisper-base');
  t.match(await seen(), /another machine: scripts\/longhand models check good$/);
  keepCheck('good', home, { ...check(2, 8), cores: 3 * cores });
  t.equal(await best(), 'whisper-base');
  keepCheck('good', home, { ...check(2, 8), cores });
  t.equal(await best(), 'good');
  t.equal(await seen(), '');
});

t.test('bestInstalled() never selects a model of English alone, however good it is', async (t) => {
  const home = t.testdir();
  await addModel(home, 'english', {});
  keepCheck('whisper-base', home, check(20, 40));
  keepCheck('english', home, check(2, 40));
  t.equal((await bestInstalled(home, { cores: 2, memoryBytes: 8 * GIB })).name, 'whisper-base');
});

t.test(
  'bestInstalled() selects for a GPU a model that runs there, however slow it is on the CPU, and else what the CPU would run',
  async (t) => {
    const home = t.testdir();
    const best = async (device: DeviceName) => (await bestInstalled(home, { cores: 2, memoryBytes: 8 * GIB }, device)).name;
    const languages = { en: 258, de: 259 };
    await addModel(home, 'small', languages);
    keepCheck('whisper-base', home, check(20, 40));
    keepCheck('small', home, check(10, 8));
    t.equal(await best('cuda'), 'small', 'no model runs on a GPU; whoever insists on one is told so');
    await addModel(home, 'base-float32', languages, 'float32');
    await addModel(home, 'half', languages, 'float16');
    await addModel(home, 'unchecked', languages, 'float16');
    keepCheck('base-float32', home, check(20, 2));
    keepCheck('half', home, { ...check(20, 1), machine: 'Another processor, 2 threads' });
    t.equal(await best('cuda'), 'half', 'float16 encodes and decodes in one call');
    t.equal(await best('webgpu'), 'half');
    t.equal(await best('cpu'), 'small');
    keepCheck('base-float32', home, check(19, 2));
    t.equal(await best('cuda'), 'base-float32');
  },
);

t.test('fittingModel() asks for the device only where auto has to be chosen for it', async (t) => {
  const home = t.testdir();
  await addModel(home, 'half', { en: 258, de: 259 }, 'float16');
  keepCheck('half', home, check(20, 1));
  const asked: string[] = [];
  const device = () => {
    asked.push('device');
    return 'cuda' as const;
  };
  t.equal((await fittingModel('whisper-base', home, true, device)).name, 'whisper-base');
  t.strictSame(asked, []);
  t.equal((await fittingModel('auto', home, true, device)).name, 'half');
  t.strictSame(asked, ['device']);
});

t.test('routedModels() routes a language of auto to the model that it stands for', async (t) => {
  const home = t.testdir();
  const auto = new Map([['en', 'auto']]);
  const same = await routedModels('whisper-base', auto, home);
  t.strictSame([same.others, same.routes.size], [[], 0], 'no model was checked: it is the resident one');
  await addModel(home, 'better', { en: 258, de: 259 });
  keepCheck('better', home, check(10, 8));
  const { others, routes } = await routedModels('whisper-base', auto, home);
  t.strictSame([others.map(({ name }) => name), [...routes]], [['better'], [['en', 'better']]]);
});

t.test('fittingModel() takes auto to mean a model that fits into the memory of the container', async (t) => {
  const home = t.testdir();
  await addModel(home, 'good', { en: 258, de: 259 });
  keepCheck('whisper-base', home, check(20, 40));
  keepCheck('good', home, check(2, 40));
  t.equal((await fittingModel('auto', home)).name, 'good');
  t.intercept(process, 'constrainedMemory', { value: () => 1e6 });
  t.equal((await fittingModel('auto', home)).name, 'whisper-base');
});
