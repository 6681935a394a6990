import { randomBytes } from 'node:crypto';
import t from 'tap';
import { findCredential } from '../../db/access/credentials.ts';
import { findSession, openSession } from '../../db/access/sessions.ts';
import { openProgram } from '../../scripts/commands/program.ts';
import { testDatabase } from '../support/database.ts';

const { db, url } = await testDatabase(t);
Object.assign(process.env, { DATABASE_URL: url, LONGHAND_HOME: t.testdir(), LONGHAND_MASTER_KEY: randomBytes(32).toString('base64') });

/** Output of `longhand admin …`, run in this process because starting a process takes seconds. */
async function run(...args: string[]): Promise<string> {
  const write = process.stdout.write;
  let printed = '';
  process.stdout.write = (text: string | Uint8Array) => {
    printed += String(text);
    return true;
  };
  try {
    await openProgram().parseAsync(['admin', ...args], { from: 'user' });
  } finally {
    process.stdout.write = write;
  }
  return printed;
}

const admin = async (...args: string[]): Promise<Record<string, string>> => JSON.parse(await run(...args, '--json'));

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
  t.match(await admin('operator', 'add', '--email', 'Di@example.com'), { email: 'di@example.com' });
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
