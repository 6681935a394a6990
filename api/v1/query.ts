import { z } from 'zod';
import { LIMITS } from '../contract/limits.ts';
import { SORTS } from '../contract/transcription.ts';

/** Pieces of query schemas: every parameter arrives as a string. */

/** true, false, 1 or 0. */
export const Flag = z
  .enum(['true', 'false', '1', '0'], 'must be true, false, 1 or 0')
  .transform((text) => text === 'true' || text === '1')
  .meta({ type: 'boolean' });

export const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^-?\d+$/, 'must be a whole number')
    .transform((text) => Math.min(most, Math.max(least, Number(text))));

/** A day of the calendar. `new Date` would take 30 February for 2 March. */
const Day = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, 'must be a date like 2026-01-31')
  .refine((text) => text > '0001' && isDay(text), 'must be a day of the calendar, like 2026-01-31');

function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

export const ListParameters = z.object({
  status: z.string().default('completed').describe('An unknown one gives an empty list'),
  project_id: z.guid('must be a UUID').optional(),
  language: z.string().optional().describe('Language code; an unknown one gives an empty list'),
  external_id: z.string().optional().describe('Exact match on X-External-Id'),
  date_from: Day.optional().meta({ format: 'date', description: 'Created on or after this day, UTC' }),
  date_to: Day.optional().meta({ format: 'date', description: 'Created on or before this day, UTC' }),
  sort: z.enum(SORTS).default('-created_at').describe('- means descending'),
  limit: whole(1, LIMITS.PAGE).default(LIMITS.PAGE_DEFAULT).meta({ type: 'integer', description: 'Clamped to 1 to 100' }),
  offset: whole(0, Number.MAX_SAFE_INTEGER).default(0).meta({ type: 'integer', description: 'Items skipped' }),
});
