/*
 * The simulation's own time and ids, so that the seed alone determines what happens. The functions that the product calls (clock_timestamp, now,
 * gen_random_uuid) are replaced by a schema searched before pg_catalog: time advances by a microsecond per call, leases and slots
 * expire only if an actor makes them, and ids are a counter.
 */
import type { Db } from '../../../db/postgres/orm.ts';

const PATH = 'simulated, public, pg_catalog';
const EPOCH = `timestamptz '2026-01-15 12:00:00+00'`; // far from midnight

const FUNCTIONS = [
  'create schema simulated',
  'create sequence simulated.ticks',
  'create sequence simulated.ids',
  `create function simulated.clock_timestamp() returns timestamptz language sql volatile as
     $$ select ${EPOCH} + nextval('simulated.ticks') * interval '1 microsecond' $$`,
  `create function simulated.now() returns timestamptz language plpgsql stable as $$ -- one time for a whole transaction
   declare
     begun text := current_setting('simulated.now', true);
   begin
     if coalesce(begun, '') = '' then begun := set_config('simulated.now', simulated.clock_timestamp()::text, true); end if;
     return begun::timestamptz;
   end $$`,
  `create function simulated.gen_random_uuid() returns uuid language sql volatile as
     $$ select ('00000000-0000-4000-8000-' || lpad(to_hex(nextval('simulated.ids')), 12, '0'))::uuid $$`,
  'grant usage on schema simulated to public',
  'grant usage, update on all sequences in schema simulated to public',
];

/** Applies this time to every connection to this database opened from now on. */
export function ownTime(db: Db): Promise<void> {
  return db.acrossTenants(async (tx) => {
    await tx.rows('set local role none');
    const defaults = await tx.rows<{ place: string; value: string }>(
      `select format('alter table %I alter %I', table_name, column_name) as place, column_default as value from information_schema.columns
       where table_schema = 'public' and column_default ~ '(now|gen_random_uuid)[(]'`,
    );
    for (const statement of FUNCTIONS) await tx.rows(statement);
    await tx.rows(`set local search_path = ${PATH}`);
    for (const { place, value } of defaults) await tx.rows(`${place} set default ${value}`); // resolves to the replacement
    await tx.rows('alter table deliveries alter next_at set default clock_timestamp()'); // so that rows of one transaction have an order
    await tx.rows(`do $$ begin execute format('alter database %I set search_path = ${PATH}', current_database()); end $$`);
  });
}

/** Resets time and ids; no two seeds share ids. */
export async function restart(db: Db, seed: number): Promise<void> {
  await db.query('*', `select setval('simulated.ticks', 1), setval('simulated.ids', ?::bigint)`, [1 + seed * 100_000]);
}
