import t from 'tap';
import { numberOf } from '../../bench/numbers.ts';
import { finish } from '../support/processes/processes.ts';

t.test('numberOf() takes numbers above 0 only', async (t) => {
  t.equal(numberOf('rows', '1e6'), 1_000_000);
  t.equal(numberOf('rate', '0.5'), 0.5);
  for (const wrong of ['0', '-1', 'many', '', '5k'])
    t.throws(() => numberOf('rows', wrong), { message: `Cannot use --rows ${wrong}: it must be a number above 0` });
});

t.test('bench/search/search.ts refuses a size that is no number before it starts a database', async (t) => {
  const { code, stderr } = await finish(process.execPath, ['--import', 'tsx', 'bench/search/search.ts', '--words', 'many']);
  t.equal(code, 2);
  t.match(stderr, 'Cannot use --words many: it must be a number above 0');
});
