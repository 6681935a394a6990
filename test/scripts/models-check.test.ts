import { availableParallelism } from 'node:os';
import t from 'tap';
import type { Settings } from '../../api/contract/settings.ts';
import { keepCheck } from '../../models/choosing/choose.ts';
import { processor } from '../../models/choosing/cpu.ts';
import { checkAll, table } from '../../scripts/commands/models-shelf.ts';
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

t.test('table() says what a machine carries with the configured number of threads', async (t) => {
  const home = t.testdir();
  keepCheck('whisper-base', home, { ...found(0.05, 0.9, 100), machine: `${processor()}, 4 threads`, cores: availableParallelism() });
  const carried = async (threads: number) => {
    const rows = await table({ LONGHAND_HOME: home, LONGHAND_THREADS: threads } as Settings, 200);
    return (rows.find(({ name }) => name === 'whisper-base') as { carries?: string }).carries;
  };
  t.match(await carried(4), /^yes/);
  t.match(await carried(1), /^no/);
});
