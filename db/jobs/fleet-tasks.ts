import type { Db } from '../postgres/orm.ts';

/* SQL: one statement, part of every heartbeat. The database's clock decides what is due. */

/** Tasks that one engine runs for the whole fleet. */
export type FleetTask = 'sweep' | 'tidy';

/**
 * Seconds between the beginnings of two runs, and until a task is due again whose engine was killed: the work of a dead engine must resume within
 * two minutes, of which its leases take one. Due times further ahead than `ahead` were set by a clock that has been set back.
 */
const TERMS: Record<FleetTask, { every: number; taken: number; ahead: number }> = {
  sweep: { every: 14, taken: 20, ahead: 60 }, // less than the interval of heartbeats, of which a single engine sends one in 15 s
  tidy: { every: 58, taken: 180, ahead: 240 },
};

const seconds = (of: 'taken' | 'ahead') =>
  `case t.name ${Object.entries(TERMS)
    .map(([name, terms]) => `when '${name}' then interval '${terms[of]} seconds'`)
    .join(' ')} end`;

/** SQL: takes the due tasks, returning their names. */
export const TAKE_TASKS = `update fleet_tasks t set due_at = clock_timestamp() + ${seconds('taken')}
  where t.name in (select d.name from fleet_tasks d where d.due_at <= clock_timestamp() or d.due_at > clock_timestamp() + ${seconds('ahead').replaceAll('t.name', 'd.name')}
    for update skip locked) returning t.name`;

/** Sets when a task is due again that has ended after `seconds`. */
export async function taskEnded(db: Db, name: FleetTask, seconds: number): Promise<void> {
  const wait = Math.max(0, TERMS[name].every - seconds);
  await db.query('*', `update fleet_tasks set due_at = clock_timestamp() + ?::float8 * interval '1 second' where name = ?`, [wait, name]);
}
