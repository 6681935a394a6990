import t from 'tap';
import { readSettings, SETTING_NAMES, withoutSecrets } from '../../../api/contract/settings.ts';

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

t.test('readSettings() refuses addresses that nobody can reach, and a sign-in provider without its client', async (t) => {
  for (const name of ['LLM_BASE_URL', 'LONGHAND_PUBLIC_URL', 'LONGHAND_URL', 'S3_ENDPOINT']) {
    for (const address of ['https://a.example', 'http://127.0.0.1:9000/v1/', 'HTTPS://a.example'])
      t.equal(errorOf({ [name]: address }), 'accepted', address);
    for (const address of ['a.example', 'localhost:9000', 'https://', 'ftp://a.example', '/v1'])
      t.equal(
        errorOf({ [name]: address }),
        `${name}="${address}": must be a URL that begins with https:// or http://, such as https://longhand.example`,
      );
  }
  const client = { OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b' };
  t.equal(errorOf({ OIDC_ISSUER: 'https://a.example', ...client }), 'accepted');
  t.equal(errorOf(client), 'accepted', 'the secrets of all parts may be in one file');
  t.match(errorOf({ OIDC_ISSUER: 'a.example', ...client }), /^OIDC_ISSUER="a.example": must be a URL/);
  for (const missing of ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'])
    t.match(
      errorOf({ OIDC_ISSUER: 'https://a.example', ...client, [missing]: '' }),
      /^OIDC_ISSUER needs OIDC_CLIENT_ID and OIDC_CLIENT_SECRET/,
    );
});

t.test(
  'readSettings() refuses numbers with which nothing would work, a spool that is none, and a mail server without a sender',
  async (t) => {
    for (const [name, most] of [
      ['LONGHAND_RETENTION_DAYS', 36_500],
      ['LONGHAND_KEEP_RECORDINGS_DAYS', 36_500],
      ['LONGHAND_WAIT_S', 86_400],
      ['LONGHAND_THREADS', 1024],
    ] as const) {
      t.equal(errorOf({ [name]: String(most) }), 'accepted');
      t.equal(errorOf({ [name]: '9999999' }), `${name}="9999999": must be at most ${most}`);
    }
    for (const place of ['/var/spool', 'spool', 'a:b', 's3://bucket', 's3://bucket/prefix/more'])
      t.equal(errorOf({ LONGHAND_MEDIA: place }), 'accepted');
    for (const place of ['s3://', 's3:///prefix', 'S3://bucket', 'https://store.example/bucket', 'file:///var/spool'])
      t.equal(errorOf({ LONGHAND_MEDIA: place }), `LONGHAND_MEDIA="${place}": must be a folder, or have the form s3://bucket/prefix`);
    const SMTP_URL = 'smtp://mail.example';
    for (const sender of ['longhand@example.com', 'Longhand <longhand@example.com>', 'Служба @ <a@b>'])
      t.equal(errorOf({ SMTP_URL, MAIL_FROM: sender }), 'accepted');
    for (const sender of ['Longhand', 'Longhand <longhand>', 'Longhand longhand@example.com'])
      t.equal(
        errorOf({ SMTP_URL, MAIL_FROM: sender }),
        `MAIL_FROM="${sender}": must be an address, such as Longhand <longhand@example.com>`,
      );
    t.match(errorOf({ SMTP_URL }), /^SMTP_URL needs MAIL_FROM/);
    t.equal(errorOf({ MAIL_FROM: 'longhand@example.com' }), 'accepted');
  },
);

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

t.test('withoutSecrets() hides every setting that is a secret, and the credentials in addresses', async (t) => {
  const secrets = ['LLM_API_KEY', 'LONGHAND_KEY', 'LONGHAND_MASTER_KEY', 'LONGHAND_METRICS_TOKEN', 'OIDC_CLIENT_SECRET'];
  const hidden = SETTING_NAMES.filter((name) => withoutSecrets(name, 'hidden-word') !== 'hidden-word');
  t.strictSame(hidden.sort(), secrets);
  const named = SETTING_NAMES.filter((name) => /KEY|SECRET|TOKEN|PASSWORD/.test(name) && !name.endsWith('_FILE'));
  t.strictSame(
    named.filter((name) => !hidden.includes(name)),
    ['LONGHAND_LIMIT_UPLOADS_PER_KEY'],
    'a secret whose name says so is marked',
  );
  t.equal(withoutSecrets('LLM_API_KEY', ''), '', 'one that is not set');
  for (const [name, value, wanted] of [
    ['DATABASE_URL', 'postgres://user:hidden-word@db/longhand', 'postgres://[hidden]@db/longhand'],
    ['DATABASE_URL', 'postgres:///longhand?host=/run&password=hidden-word&x=1', 'postgres:///longhand?host=/run&password=[hidden]&x=1'],
    ['DATABASE_URL', 'hidden-word@db', '[hidden]@db'],
    ['SMTP_URL', 'smtps://longhand@example.com:hidden-word@mail.example', 'smtps://[hidden]@mail.example'],
    ['S3_ENDPOINT', 'https://user:hidden-word@s3.example', 'https://[hidden]@s3.example'],
    ['LLM_BASE_URL', 'https://llm.example/v1?api-key=hidden-word', 'https://llm.example/v1?api-key=[hidden]'],
    ['MAIL_FROM', 'Longhand <longhand@example.com>', 'Longhand <longhand@example.com>'],
    ['LONGHAND_PUBLIC_URL', 'https://longhand.example', 'https://longhand.example'],
  ] as const)
    t.equal(withoutSecrets(name, value), wanted);
  t.equal(
    errorOf({ LONGHAND_METRICS_TOKEN: 'hidden-word' }),
    'LONGHAND_METRICS_TOKEN="[hidden]": must be at least 16 printable ASCII characters, as from openssl rand -hex 32',
  );
});
