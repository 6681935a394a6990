import t from 'tap';
import { readConfig, readGeneration } from '../../../models/build/whisper/config.ts';
import { describe } from '../../../models/build/whisper/describe.ts';
import { DEFAULT } from '../../../models/recipes/default.ts';
import { SHAPES, writeCheckpoint } from '../checkpoint.ts';

t.test('describe() offers no more tokens than the checkpoint has positions, nor than the cache of the engine holds', async (t) => {
  const folder = t.testdir();
  writeCheckpoint(folder, SHAPES.plain!, 'F16');
  const config = readConfig(folder);
  const { generation } = readGeneration(folder, config);
  const about = { name: 'tiny', licence: 'MIT', source: 'here', variant: 'int8' as const };
  const made = { checkpoint: { sha256: '0'.repeat(64), parameters: 1 }, peakConstants: [], files: [] };
  const longest = (positions: number) =>
    describe(about, { ...config, max_target_positions: positions }, generation, DEFAULT, made).dimensions.longestText;
  t.strictSame([200, 448, 1024].map(longest), [200, 448, 448]);
});
