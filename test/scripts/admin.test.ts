import { randomBytes } from 'node:crypto';
import t from 'tap';
import { findCredential } from '../../db/access/credentials.ts';
import { findSession, openSession } from '../../db/access/sessions.ts';
import { testDatabase } from '../support/databases/database.ts';
import { longhandHere } from '../support/processes/here.ts';
import { longhand } from '../support/processes/processes.ts';

const { db, url } = await testDatabase(t);
const env = { DATABASE_URL: url, LONGHAND_HOME: t.testdir(), LONGHAND_MASTER_KEY: randomBytes(32).toString('base64') };

/** Output of `longhand admin …`. */
async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await longhandHere(['admin', ...args], env);
  if (code !== 0) throw new Error(`exit ${code}: ${stderr}`);
  return stdout;
}

const admin = async (...args: string[]): Promise<Record<string, string>> => JSON.parse(await run(...args, '--json'));

t.test('admin creates a workspace with minutes, a member and a key with the stated permissions', async (t) => {
  const workspace = await admin('workspace', 'create', '--name', 'Acme', '--minutes', '100');
  const member = await admin('member', 'add', '--workspace', workspace.id!, '--email', 'anna@example.com', '--role', 'owner');
  t.match(member, { email: 'anna@example.com', role: 'owner' });
  const { id, key } = await admin('key', 'create', '--workspace', workspace.id!, '--member', member.id!, '--scopes', 'read,uploads:write');
  t.match(key, /^lh_[0-9A-Za-z]{40,}$/);
  const caller = await findCredential(db, key!);
  t.strictSame(
    { workspace: caller?.workspaceId, member: caller?.memberId, scopes: [...caller!.scopes] },
    { workspace: workspace.id, member: member.id, scopes: ['read', 'uploads:write'] },
  );
  const [keys] = await db.query<{ row: string }>('*', `select row_to_json(k)::text as row from api_keys k`);
  t.notMatch(keys!.row, key, 'only its hash is stored');

  t.match(await admin('workspace', 'minutes', '--workspace', workspace.id!, '--add', '-30.5'), { balance_minutes: 69.5 });
  for (const most of ['1e30', '-1000000001'])
    await t.rejects(
      admin('workspace', 'minutes', '--workspace', workspace.id!, '--add', most),
      /It must be from -1000000000 to 1000000000/,
    );
  await admin('key', 'revoke', '--key-id', id!);
  t.equal(await findCredential(db, key!), null);
});

t.test('admin removes a membership and everything that depends on it', async (t) => {
  const workspace = await admin('workspace', 'create', '--name', 'Ends');
  const member = await admin('member', 'add', '--workspace', workspace.id!, '--email', 'bo@example.com', '--pending');
  await admin('member', 'activate', '--workspace', workspace.id!, '--member', member.id!);
  const { access_token: token } = await admin('token', 'create', '--workspace', workspace.id!, '--member', member.id!);
  t.equal((await findCredential(db, token!))?.kind, 'token');
  await admin('member', 'remove', '--workspace', workspace.id!, '--member', member.id!);
  t.equal(await findCredential(db, token!), null);
  const again = await admin('member', 'add', '--workspace', workspace.id!, '--email', 'BO@example.com');
  t.not(again.id, member.id, 'the address can be used again');
});

t.test('admin creates projects and templates', async (t) => {
  const workspace = await admin('workspace', 'create', '--name', 'Projects');
  const member = await admin('member', 'add', '--workspace', workspace.id!, '--email', 'cy@example.com');
  const project = await admin('project', 'create', '--workspace', workspace.id!, '--name', 'Sales');
  t.match(await admin('project', 'member', '--project', project.id!, '--member', member.id!, '--role', 'editor'), { role: 'editor' });
  const template = ['template', 'create', '--workspace', workspace.id!, '--name', 'Call review (2)', '--prompt', 'What was agreed?'];
  t.strictSame(await admin(...template), { slug: 'call-review-2' });
  await t.rejects(admin(...template), /There is a template with the slug call-review-2 already/);
  await t.rejects(admin(...template, '--slug', 'summary'), /built-in/);
});

t.test('admin workspace delete destroys the data key immediately, and leaves the rest to a job', async (t) => {
  const workspace = await admin('workspace', 'create', '--name', 'Gone');
  await admin('workspace', 'delete', '--workspace', workspace.id!);
  t.strictSame(await db.query('*', 'select 1 from data_keys where workspace_id = ?', [workspace.id]), []);
  await t.rejects(admin('workspace', 'delete', '--workspace', workspace.id!), /There is no workspace/);
  t.match(await run('audit', '--workspace', workspace.id!), /workspace\.delete/, 'its log stays');
  t.equal(JSON.stringify(await admin('workspace', 'list')).includes(workspace.id!), false);
});

t.test('admin lists and removes what was created, changes workspaces, sums up usage and prints the audit log', async (t) => {
  const workspace = (await admin('workspace', 'create', '--name', 'Run', '--minutes', '100')).id!;
  const at = ['--workspace', workspace];
  const member = (await admin('member', 'add', ...at, '--email', 'di@example.com', '--role', 'owner')).id!;
  t.match(
    await admin('workspace', 'set', ...at, '--plan', 'free', '--concurrency', '7', '--name', 'Running', '--keep-recordings-days', '14'),
    {
      ...{ name: 'Running', plan: 'free', concurrency: 7, keep_recordings_days: 14 },
    },
  );
  t.match(await admin('member', 'list', ...at), [{ id: member, email: 'di@example.com', role: 'owner', status: 'active' }]);
  const project = (await admin('project', 'create', ...at, '--name', 'Sales')).id!;
  t.match(await admin('project', 'list', ...at), [{ id: project, name: 'Sales' }]);
  await admin('project', 'delete', '--project', project);
  await t.rejects(admin('project', 'delete', '--project', project), /There is no project/);

  const token = await admin('token', 'create', ...at, '--member', member);
  t.match(await admin('grant', 'list', ...at), [{ id: token.id, member_id: member, client: null }]);
  await admin('token', 'revoke', '--token-id', token.id!);
  t.equal(await findCredential(db, token.access_token!), null);
  t.strictSame(await admin('grant', 'list', ...at), []);
  const secret = await db.acrossTenants((tx) => openSession(tx, { workspaceId: workspace, memberId: member }));
  const [session] = (await admin('session', 'list', ...at)) as unknown as Record<string, string>[];
  t.match(session, { member_id: member, email: 'di@example.com' });
  await admin('session', 'revoke', '--session-id', session!.id!);
  t.equal(await db.acrossTenants((tx) => findSession(tx, secret)), null);

  await db.acrossTenants((tx) =>
    tx.rows(
      `insert into ledger (workspace_id, transcription_id, minutes, created_at) values (?, gen_random_uuid(), -2.5, '2026-03-01T12:00:00Z')`,
      [workspace],
    ),
  );
  t.strictSame(await admin('usage', ...at), [{ day: '2026-03-01', recordings: 1, minutes: 2.5 }]);
  t.equal(await run('usage', ...at, '--by', 'key', '--csv'), 'key,recordings,minutes\r\n,1,2.5\r\n');
  t.equal(await run('usage', ...at, '--from', '2030-01-01', '--csv'), '');
  t.match(await admin('operator', 'add', '--email', 'Di@example.com'), { email: 'di@example.com' });
  t.match(await run('operator', 'list'), /^di@example\.com +20\d\d-\d\d-\d\dT[\d:.]+Z$/m);
  await t.rejects(admin('operator', 'add', '--email', 'Di'), /must be an address such as/, 'nobody could sign in with it');
  await t.rejects(admin('member', 'link', ...at, '--member', member, '--url', 'example.com'), /must be a URL such as/);
  await t.rejects(admin('audit', '--workspace', member), /There is no workspace/);
  t.match(await admin('operator', 'remove', '--email', 'di@example.com'), { email: 'di@example.com' });
  const log = (await admin('audit', ...at)) as unknown as { action: string }[];
  t.strictSame(
    new Set(log.map(({ action }) => action)),
    new Set([
      'session.revoke',
      'session.create',
      'grant.revoke',
      'token.create',
      'project.delete',
      'project.create',
      'workspace.change',
      'member.add',
      'workspace.minutes',
      'workspace.create',
    ]),
  );
});

t.test('longhand exits with 2 on a usage error and with 1 on failure', async (t) => {
  const codes = [
    await longhandHere(['admin', 'key', 'create'], env),
    await longhandHere(['admin', 'token', 'create', '--workspace', 'x', '--member', 'y', '--ttl', '-1'], env),
    await longhandHere(['transcribe', 'x.wav', '--format', 'pdf'], env),
    await longhandHere(['admin', 'workspace', 'minutes', '--workspace', 'x', '--add', '1'], env),
    await longhand(['migrate'], { ...env, LONGHAND_HOMES: '/tmp' }),
  ].map(({ code, stdout }) => [code, stdout]);
  t.strictSame(codes, [
    [2, ''],
    [2, ''],
    [2, ''],
    [1, ''],
    [1, ''],
  ]);
});
