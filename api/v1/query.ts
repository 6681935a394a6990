import { z } from 'zod';
import { LIMITS } from '../contract/limits.ts';
import { SORTS } from '../contract/transcription.ts';

/** Query schemas: every parameter arrives as a string. */

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

/** A calendar day. `new Date` would parse 30 February as 2 March. */
export const Day = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, 'must be a date like 2026-01-31')
  .refine((text) => text > '0001' && isDay(text), 'must be a day of the calendar, like 2026-01-31');

function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** A time, converted to UTC and milliseconds, because PostgreSQL takes offsets only up to 15:59, and few digits. */
const Time = z
  .string()
  .transform((text) => text.replace(' ', '+')) // an unencoded plus sign
  .pipe(z.iso.datetime({ offset: true, error: 'must be a time like 2026-01-31T09:30:00Z' }))
  .transform((text) => new Date(text))
  .refine((time) => time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9999, 'must be in the years 1 to 9999, UTC')
  .transform((time) => time.toISOString());

export const ListParameters = z.object({
  status: z.string().default('completed').describe('Status; an unknown one gives an empty list'),
  project_id: z.guid('must be a UUID').optional(),
  language: z.string().optional().describe('Language code; an unknown one gives an empty list'),
  external_id: z.string().optional().describe('Exact match on X-External-Id'),
  date_from: Day.optional().meta({ format: 'date', description: 'Created on or after this day, UTC' }),
  date_to: Day.optional().meta({ format: 'date', description: 'Created on or before this day, UTC' }),
  q: z
    .string()
    .max(LIMITS.SEARCH_CHARACTERS)
    .optional()
    .describe(
      `Spoken words: recordings that contain all of them, ignoring case and accents; items then have \`hits\`. Words after the first ${LIMITS.SEARCH_WORDS} are ignored`,
    ),
  confidence_below: z
    .string()
    .regex(/^(0|1|0?\.\d+|[01]\.\d*)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .pipe(z.number().max(1, 'must be a number from 0 to 1'))
    .transform(Math.fround) // PostgreSQL's real refuses numbers that it would round to 0
    .optional()
    .meta({
      type: 'number',
      format: 'double',
      minimum: 0,
      maximum: 1,
      description: 'Only recordings whose average word confidence is lower: candidates for review',
    }),
  updated_since: Time.optional().meta({
    type: 'string',
    format: 'date-time',
    description: 'Only items changed at or after this time, in order of change; the response then has `next_cursor`',
  }),
  cursor: z.string().max(200).optional().describe('`next_cursor` of an earlier page, however old: items changed since'),
  sort: z.enum(SORTS).default('-created_at').describe('`-` means descending'),
  limit: whole(1, LIMITS.PAGE).default(LIMITS.PAGE_DEFAULT).meta({ type: 'integer', description: 'Clamped to 1 to 100' }),
  offset: whole(0, Number.MAX_SAFE_INTEGER).default(0).meta({ type: 'integer', description: 'Number of items to skip' }),
});
