import t from 'tap';
import { backOff } from '../../../db/jobs/leases.ts';

t.test('backOff() waits four times as long after each failure, at most ten minutes', async (t) => {
  t.strictSame([1, 2, 3, 4, 5, 50].map(backOff), [5, 20, 80, 320, 600, 600]);
  t.equal(backOff(0), 5);
});
