import t from 'tap';
import type { Settings } from '../../api/contract/settings.ts';
import { checkAll } from '../../scripts/commands/models-shelf.ts';
import { found } from '../models/measured.ts';

t.test('checkAll() returns the figures of a model although they cannot be stored', async (t) => {
  const settings = { LONGHAND_HOME: t.testdir({ models: { '.checks': 'not a folder' } }) } as Settings;
  const printed = t.capture(process.stderr, 'write', () => true);
  const { rows, failed } = await checkAll(settings, ['whisper-base', 'lost'], async () => found(0.05));
  t.match(rows, [{ name: 'whisper-base', rtfx: Number }]);
  t.equal(failed, 2);
  t.match(
    printed().map(({ args }) => String(args[0])),
    [
      'checking whisper-base\n',
      /^Cannot store the figures of whisper-base: Cannot use .+\.checks.*: .*\n$/,
      'checking lost\n',
      /^Cannot check lost: Cannot find the model lost/,
    ],
  );
});
