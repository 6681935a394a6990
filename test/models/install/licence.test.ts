import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readWhisper } from '../../../models/descriptor.ts';
import { importModel } from '../../../models/install/importing.ts';
import { licencesIn } from '../../../models/install/licence.ts';
import { SHAPES, writeCheckpoint } from '../checkpoint.ts';

const CARD = '---\nlicense: cc-by-4.0\nbase_model: openai/whisper-small\n---\n';
const ORIGIN = 'https://example.org/whisper-kk';

/** A checkpoint with this model card. */
function withCard(t: { testdir(): string }, card: string): { folder: string; home: string } {
  const folder = join(t.testdir(), 'checkpoint');
  writeCheckpoint(folder, SHAPES.plain!, 'F16');
  writeFileSync(join(folder, 'README.md'), card);
  writeFileSync(join(folder, 'LICENSE.txt'), 'Be fair.');
  return { folder, home: join(folder, '..', 'home') };
}

t.test('importModel() reads the licence of a Whisper checkpoint from its card, and copies licence files', async (t) => {
  const { folder, home } = withCard(t, '---\nlicense: apache-2.0\n---\n');
  const { licence, files, descriptor } = await importModel(folder, { name: 'fair', home, variant: 'int8' });
  t.equal(licence, 'Apache-2.0');
  t.ok(files.some(({ name }) => name === 'LICENSE.txt'));
  t.notOk('attribution' in descriptor!);
});

t.test('licencesIn() names files and links to them, not folders or links to nothing', async (t) => {
  const folder = t.testdir({ LICENSE: 'Be fair.', licenses: {}, 'LICENCE.linked': t.fixture('symlink', 'LICENSE') });
  symlinkSync('nowhere', join(folder, 'license.gone'));
  t.strictSame(await licencesIn(folder), ['LICENCE.linked', 'LICENSE']);
});

t.test('importModel() requires the origin of a Whisper checkpoint with a CC-BY licence, and keeps the attribution', async (t) => {
  const { folder, home } = withCard(t, CARD);
  const options = { name: 'kk', home, variant: 'int8' as const };
  await t.rejects(importModel(folder, options), /licence CC-BY-4\.0 requires attribution; say who made it .*--source/);
  const model = await importModel(folder, { ...options, source: ORIGIN });
  const attribution = `kk, from ${ORIGIN}, licensed under CC-BY-4.0; the weights are converted to 8 bits`;
  t.equal(readWhisper(model.folder).attribution, attribution);
  const converted = await importModel(model.folder, { home, variant: 'float32' });
  t.match(readWhisper(converted.folder), { licence: 'CC-BY-4.0', attribution });
});
