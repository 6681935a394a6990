import { defineEntity } from '@mikro-orm/core';
import { moment } from './columns.ts';

/* Engines and couriers that are running or were recently. */

export const Engine = defineEntity({
  name: 'Engine',
  tableName: 'engines',
  properties: (p) => ({
    id: p.uuid().primary(),
    role: p.enum(['engine', 'courier']).default('engine'),
    host: p.text(),
    pid: p.integer(),
    version: p.text().default(''),
    device: p.text().default('cpu'),
    model: p.text().default(''),
    concurrency: p.integer().default(1),
    workerIds: p.array().defaultRaw("'{}'"),
    memoryBytes: p.bigint().defaultRaw('0'),
    working: p.integer().default(0),
    finished: p.integer().default(0),
    failedDiarizations: p.integer().default(0),
    uncoveredSeconds: p.double().default(0),
    recognised: p.json().defaultRaw("'{}'"),
    writing: p.json().defaultRaw("'{}'"),
    startedAt: moment().defaultRaw('now()'),
    lastSeen: moment().defaultRaw('now()'),
    lastPoll: moment().nullable(),
    trouble: p.text().nullable(),
  }),
});
