import { type EntitySchema, p } from '@mikro-orm/core';

/** A column that refers to a row of another table by its key, and holds that key. With the row it goes, or becomes null. */
export function reference<T extends EntitySchema>(target: T, column: string, onDelete: 'cascade' | 'set null' = 'cascade') {
  return p.manyToOne(target).mapToPk().joinColumn(column).deleteRule(onDelete).updateRule('no action');
}

/** Defaults as PostgreSQL repeats them. */
export const EPOCH = "'1970-01-01 00:00:00+00'";
export const THIS_MILLISECOND = "date_trunc('milliseconds'::text, now())";

/** A number that the table itself gives. */
export function serial() {
  return p.bigint().primary().columnType('bigint').generated('identity');
}

/** A point in time, with microseconds and as UTC. */
export function moment() {
  return p.datetime().columnType('timestamptz');
}

/** An index as PostgreSQL is told it: MikroORM has no words for order, conditions and expressions. `how` begins with its columns. */
export function index(name: string, table: string, how: string) {
  return { name, expression: `create index ${name} on ${table} ${how}` };
}

/** As `index`, of values that may not be there twice. */
export function unique(name: string, table: string, how: string) {
  return { name, expression: `create unique index ${name} on ${table} ${how}` };
}
