import { defineEntity } from '@mikro-orm/core';
import { moment } from './columns.ts';

/* Tables for monitoring. */

/** Minutes charged so far, in slots so that charges seldom wait for one another. */
export const Charged = defineEntity({
  name: 'Charged',
  tableName: 'charged',
  properties: (p) => ({
    slot: p.integer().primary().autoincrement(false),
    minutes: p.decimal().columnType('numeric').defaultRaw('0'),
  }),
});

/** The API process that exports the metrics of the installation, and until when. */
export const MetricsSource = defineEntity({
  name: 'MetricsSource',
  tableName: 'metrics_source',
  properties: (p) => ({
    name: p.text().primary(),
    nodeId: p.uuid(),
    until: moment(),
  }),
});
