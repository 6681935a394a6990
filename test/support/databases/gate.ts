import { type Db, openDb } from '../../../db/postgres/orm.ts';

/** Opens a transaction that holds the locks of `sql` until the returned function is called, without a time limit. */
export async function holding(url: string, sql: string): Promise<() => void> {
  const own = await openDb({ url, pool: 1, name: 'longhand-test', patience: 'operator' }); // no timeouts
  let end!: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const begun = new Promise<void>((resolve, reject) => {
    own
      .acrossTenants(async (tx) => {
        await tx.rows('set local role none');
        await tx.rows('set local idle_in_transaction_session_timeout = 0'); // the default is 60 s
        await tx.rows(sql);
        resolve();
        await ended;
      })
      .catch(reject)
      .finally(() => own.close());
  });
  await begun;
  return end;
}

/** Number of connections of programs with this name (`longhand-api`, `longhand-engine`) that wait for a lock. */
export async function waiting(db: Db, program: string): Promise<number> {
  return db.acrossTenants(async (tx) => {
    await tx.rows('set local role none');
    const rows = await tx.rows(
      `select 1 from pg_stat_activity where datname = current_database() and application_name = ? and wait_event_type = 'Lock'`,
      [program],
    );
    return rows.length;
  });
}

/** The connections that `waiting` counts with their statements, and all other statements and transactions, for messages. */
export async function statements(db: Db): Promise<string> {
  const rows = await db.acrossTenants(async (tx) => {
    await tx.rows('set local role none');
    return tx.rows(
      `select application_name as name, pid, state, wait_event_type as type, wait_event as event, pg_blocking_pids(pid) as blockers, left(query, 200) as query
         from pg_stat_activity where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`,
    );
  });
  return rows.map((row) => JSON.stringify(row)).join('\n');
}

/** Whether no statement of programs with this name is running, except for those that wait for a lock or for the client. */
export async function quiet(db: Db, program: string): Promise<boolean> {
  return db.acrossTenants(async (tx) => {
    await tx.rows('set local role none');
    const busy = await tx.rows(
      `select 1 from pg_stat_activity where datname = current_database() and application_name = ? and state = 'active' and coalesce(wait_event_type, '') not in ('Lock', 'Client')`,
      [program],
    );
    return !busy.length;
  });
}

const GATE = 4_711; // advisory lock

/** Blocks the commit of transactions that insert into a table until the returned function is called. */
export async function holdCommits(db: Db, url: string, table: string): Promise<() => void> {
  await db.acrossTenants(async (tx) => {
    await tx.rows('set local role none');
    await tx.rows(`create or replace function gate() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(${GATE}); return null; end $$`);
    await tx.rows(`drop trigger if exists gate on ${table}`);
    await tx.rows(`create constraint trigger gate after insert on ${table} deferrable initially deferred
      for each row execute function gate()`);
  });
  return holding(url, `select pg_advisory_xact_lock(${GATE})`);
}
