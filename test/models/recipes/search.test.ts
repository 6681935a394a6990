import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Measured } from '../../../models/checks/self-check.ts';
import { readWhisper, type WhisperDescriptor } from '../../../models/descriptor.ts';
import { importModel } from '../../../models/install/importing.ts';
import type { ImportOptions } from '../../../models/install/making.ts';
import { SHAPES, writeCheckpoint } from '../checkpoint.ts';
import { found } from '../measured.ts';

/* The search for faster recipes at import. */

const scratch = mkdtempSync(join(tmpdir(), 'longhand-faster-'));
t.teardown(() => rmSync(scratch, { recursive: true }));

/** A new checkpoint folder, of which one decoder layer can be pooled. */
function checkpoint(): string {
  const folder = mkdtempSync(join(scratch, 'checkpoint-'));
  writeCheckpoint(folder, SHAPES.plain!, 'F16');
  const path = join(folder, 'generation_config.json');
  const given = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  writeFileSync(path, JSON.stringify({ ...given, alignment_heads: [[1, 0]] }));
  return folder;
}

type Form = { hop: number; pooled: boolean; coarse: boolean };

/** Imports a model. `measure` is given what distinguishes the forms tried. */
async function imported(t: Test, measure: (form: Form) => Measured, probe?: ImportOptions['probe']): Promise<WhisperDescriptor> {
  const told = async (made: string) => {
    const { hop, pooledLayers, coarseHeads } = readWhisper(made).recipe;
    return measure({ hop, pooled: pooledLayers.length > 0, coarse: coarseHeads.flat().length > 0 });
  };
  const home = t.testdir();
  const { folder } = await importModel(checkpoint(), { home, name: 'faster', variant: 'int8', measure: told, probe });
  t.strictSame(readdirSync(join(home, 'models')), ['faster'], 'no other files remain');
  return readWhisper(folder);
}

t.test('importModel() keeps a faster form whose additional errors chance explains, and no other', async (t) => {
  let measured = 0;
  const { recipe, window, check } = await imported(t, ({ hop, pooled }) => {
    measured++;
    const errors = pooled ? 25 : hop === 176 ? 22 : 20; // an error more in five clips, in two, and in none
    return found(errors / 400, 0.9, pooled ? 20 : hop === 176 ? 12 : 10, 400);
  });
  t.equal(recipe.hop, 176);
  t.strictSame(recipe.pooledLayers, []);
  t.equal(window.samplesPerStep, 352);
  t.equal(check!.rtfx, 12, 'the measurement of that form, which is built again without another');
  t.equal(measured, 4);
});

t.test('importModel() rejects a faster form that makes words less probable, though it makes no more errors', async (t) => {
  const { recipe } = await imported(t, ({ hop, pooled }) => found(0.05, 0.9 - (pooled ? 0.01 : 0) - (hop === 176 ? 0.002 : 0)));
  t.strictSame([recipe.hop, recipe.pooledLayers], [176, []]);
});

t.test('importModel() keeps a faster form that seems slightly slower, as beside other work, and no slower one', async (t) => {
  const { recipe } = await imported(t, ({ hop, pooled }) =>
    found(0.05, 0.9, pooled || hop === 176 ? 4 : 10, 200, pooled ? 0.12 : hop === 176 ? 0.105 : 0.1),
  );
  t.strictSame([recipe.hop, recipe.pooledLayers], [176, []]);
});

t.test('importModel() measures all faster changes together first, and nothing else if they cost no accuracy', async (t) => {
  const seen: Form[] = [];
  const { recipe } = await imported(t, (form) => {
    seen.push(form);
    return found(0.05, 0.9, form.hop === 176 ? 12 : 10);
  });
  const [safe, fast] = [
    { hop: 160, pooled: false, coarse: false },
    { hop: 176, pooled: true, coarse: false },
  ];
  t.strictSame(seen, [safe, safe, fast], 'in 8 bits, in float32, in 8 bits');
  t.match(recipe, { hop: 176, pooledLayers: [0] });
});

t.test('importModel() makes heads coarse that a probe of the encoder found to lose little', async (t) => {
  const probed: [network: boolean, hop: number][] = [];
  const probe = async (network: string, hop: number) => {
    probed.push([existsSync(network), hop]);
    return { loss0: [1, 0, 1, 0], loss1: [1, 1, 1, 1] };
  };
  const { recipe } = await imported(t, ({ coarse }) => found(0.05, 0.9, coarse ? 12 : 10), probe);
  t.strictSame(probed, [[true, 160]]);
  t.strictSame(recipe.coarseHeads, [[1, 3], []]);
});

t.test('importModel() installs the files of the fastest accurate form, whichever it tried last', async (t) => {
  const seen: Form[] = [];
  const probe = async () => ({ loss0: [1, 0, 1, 0], loss1: [1, 1, 1, 1] });
  const measure = (form: Form) => {
    seen.push(form);
    return found(form.pooled || form.coarse ? 25 / 400 : 0.05, 0.9, form.hop === 176 ? 12 : 10, 400);
  };
  const { recipe, memory, check } = await imported(t, measure, probe);
  const faster = { hop: 176, pooled: false, coarse: false };
  t.strictSame(seen.slice(2), [{ hop: 176, pooled: true, coarse: true }, faster, { ...faster, coarse: true }, { ...faster, pooled: true }]);
  t.strictSame([recipe.hop, recipe.pooledLayers, recipe.coarseHeads.flat()], [176, [], []]);
  t.equal(memory.thread, check!.threadBytes, 'the memory that was measured, where it is more than that of its networks');
});
