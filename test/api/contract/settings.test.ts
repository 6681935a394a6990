import t from 'tap';
import { readSettings } from '../../../api/contract/settings.ts';

/** The only error reported for an environment, or 'accepted'. */
function errorOf(environment: Record<string, string>): string {
  try {
    readSettings(environment);
  } catch (error) {
    return (error as Error).message.replace('Cannot start with these settings:\n  ', '');
  }
  return 'accepted';
}

t.test('readSettings() accepts addresses of PostgreSQL, and states what is expected if one is invalid', async (t) => {
  for (const address of [
    'postgres://longhand:secret@db.example:5432/longhand',
    'postgresql://db/longhand?sslmode=require',
    'postgres://a%40b:p%2Fq%23r%25@[::1]/x',
    'postgres:///longhand?host=/run/postgresql',
    'postgres://127.0.0.1',
  ])
    t.equal(errorOf({ DATABASE_URL: address }), 'accepted', address);
  for (const address of [
    'localhost:5432/longhand',
    'localhost',
    'mysql://root:hidden-word@db/longhand',
    'postgres://user:hidden-word#x@db/longhand',
    'postgres://user:hidden-word/x@db/longhand',
    'postgres://user:12/hidden-word@db/longhand',
    'postgres://user:12#hidden-word@db/longhand',
    'postgres://user:hidden-word%@db/longhand',
    'postgres://user:hidden@word@db:port/longhand',
    'postgres://db/longhand/more',
    'postgres:///longhand',
    'host=db user=longhand password=hidden-word',
  ]) {
    const message = errorOf({ DATABASE_URL: address });
    t.match(message, /^DATABASE_URL=".+": must have the form postgres:\/\/USER:PASSWORD@HOST:5432\/DATABASE; .*%40 for @/, address);
    t.notMatch(message, /hidden-word|hidden@word/, 'the password is not shown');
  }
  t.match(errorOf({ DATABASE_URL: 'mysql://root:hidden-word@db/longhand' }), 'DATABASE_URL="mysql://[hidden]@db/longhand"');
});

t.test('readSettings() accepts ports, and states what is expected if one is invalid', async (t) => {
  t.equal(readSettings({ PORT: '0' }).PORT, 0);
  t.equal(readSettings({ PORT: '65535' }).PORT, 65_535);
  t.equal(readSettings({ PORT: '' }).PORT, 8080);
  for (const port of ['http', '-1', '80.5', '65536', '8080 ', '0x50', '123456'])
    t.equal(errorOf({ PORT: port }), `PORT=${JSON.stringify(port)}: must be a whole number from 0 to 65535, where 0 picks a free port`);
});

t.test('readSettings() reports all errors together, with the nearest name for an unknown setting', async (t) => {
  t.equal(
    errorOf({ PORT: 'x', LONGHAND_THREADS: '0', LONGHAND_MODLE: 'a', LONGHAND_LIMIT_UPLOADS_PER_KEY: '1000000' }).replace(
      /from 1 to \d+/,
      'from 1 to n',
    ),
    [
      'PORT="x": must be a whole number from 0 to 65535, where 0 picks a free port',
      'LONGHAND_THREADS="0": must be at least 1',
      'LONGHAND_LIMIT_UPLOADS_PER_KEY="1000000": must be a whole number from 1 to n; it can be lowered, not raised',
      'LONGHAND_MODLE is not a setting; did you mean LONGHAND_MODEL?',
    ].join('\n  '),
  );
});
