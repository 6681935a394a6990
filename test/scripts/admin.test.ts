import { randomBytes } from 'node:crypto';
import t from 'tap';
import { findCredential } from '../../db/access/credentials.ts';
import { testDatabase } from '../support/database.ts';
import { longhandHere } from '../support/here.ts';
import { longhand } from '../support/processes.ts';

const { db, url } = await testDatabase(t);
const env = { DATABASE_URL: url, LONGHAND_HOME: t.testdir(), LONGHAND_MASTER_KEY: randomBytes(32).toString('base64') };

/** Output of `longhand admin … --json`. */
async function admin(...args: string[]): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await longhandHere(['admin', ...args, '--json'], env);
  if (code !== 0) throw new Error(`exit ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

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
  t.equal(JSON.stringify(await admin('workspace', 'list')).includes(workspace.id!), false);
});

t.test('longhand exits with 2 on a usage error and with 1 on failure', async (t) => {
  const codes = [
    await longhand(['admin', 'key', 'create'], env),
    await longhand(['admin', 'token', 'create', '--workspace', 'x', '--member', 'y', '--ttl', '-1'], env),
    await longhand(['transcribe', 'x.wav', '--format', 'pdf'], env),
    await longhand(['admin', 'workspace', 'minutes', '--workspace', 'x', '--add', '1'], env),
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
