import type { Connection } from './pool.ts';

/** The role that the program uses if it could be created: it owns nothing and cannot bypass row-level security. */
export const APP_ROLE = 'longhand_app';

/** APP_ROLE if the user in the URL may use it, else 'none'. */
export async function findRole(connection: Connection): Promise<string> {
  const { rows } = await connection.query(
    `select 1 from pg_roles where rolname = '${APP_ROLE}' and pg_has_role(session_user, oid, 'member') and rolname <> session_user`,
  );
  return rows.length ? APP_ROLE : 'none';
}
