import type { Db } from './orm.ts';
import { APP_ROLE } from './role.ts';

/** Throws if row-level security is not effective: the role bypasses it, or a table with workspace data does not enforce it. */
export async function requirePolicies(db: Db): Promise<void> {
  const [role] = await db.query<{ name: string; free: boolean }>(
    '*',
    'select rolname as name, rolsuper or rolbypassrls as free from pg_roles where rolname = current_user',
  );
  if (role?.free)
    throw new Error(
      `Cannot isolate workspaces: the role ${role.name} bypasses row-level security. Use a DATABASE_URL whose user is not a superuser and has no BYPASSRLS, or create the role ${APP_ROLE} and grant it to ${role.name}; then run scripts/longhand migrate`,
    );
  const open = await db.query<{ table: string }>('*', UNPROTECTED);
  if (open.length)
    throw new Error(
      `Cannot isolate workspaces: row-level security is not forced on ${open.map(({ table }) => table).join(', ')}. Undo the manual change, or restore the database from a backup`,
    );
}

const UNPROTECTED = `select r.relname as table from pg_class r join pg_attribute a on a.attrelid = r.oid and a.attname = 'workspace_id' and not a.attisdropped
  where r.relnamespace = current_schema()::regnamespace and r.relkind = 'r'
    and not (r.relrowsecurity and r.relforcerowsecurity and exists (select from pg_policy p where p.polrelid = r.oid)) order by 1`;
