import { z } from 'zod';
import { isLanguage, LANGUAGES } from '../contract/languages.ts';
import { LIMITS } from '../contract/limits.ts';

const flag = z
  .enum(['true', 'false', '1', '0'], { error: 'must be true, false, 1 or 0' })
  .transform((value) => value === 'true' || value === '1');

/** The part of the query that is checked before the project is looked up. */
export const PlaceQuery = z.object({
  language: z
    .string()
    .overwrite((code) => code.replace(/[A-Z]/g, (letter) => letter.toLowerCase())) // not K for the Kelvin sign
    .refine((code) => code === 'auto' || isLanguage(code), { error: 'must be auto or one of the supported language codes' })
    .default('auto')
    .meta({
      type: 'string',
      enum: ['auto', ...LANGUAGES],
      description: 'Language code; `auto` detects the language; case-insensitive',
      example: 'en',
    }),
  project_id: z.guid({ error: 'must be a UUID' }).optional().meta({ description: 'Add to this project' }),
});

/** The rest of it. */
export const WorkQuery = z.object({
  diarize: flag.default(true).meta({ type: 'boolean', description: 'Whether to run speaker diarization; 1 and 0 are also accepted' }),
  speakers_count: z
    .string()
    .regex(/^\d{1,3}$/, `must be a whole number from 1 to ${LIMITS.SPEAKERS}`)
    .transform(Number)
    .pipe(z.number().min(1).max(LIMITS.SPEAKERS))
    .optional()
    .meta({ type: 'integer', minimum: 1, maximum: LIMITS.SPEAKERS, description: 'Number of speakers, if known' }),
  ai_metadata: flag.default(false).meta({ type: 'boolean', description: 'Generate summary, title, speaker names and topics' }),
});

export const ReportsQuery = z.object({
  reports: z.string().optional().meta({ description: 'Comma-separated slugs of report templates, at most 3', example: 'summary,tasks' }),
});

/** For the description; the parts are checked one by one, in the published order. */
export const UploadQuery = z.object({ ...PlaceQuery.shape, ...WorkQuery.shape, ...ReportsQuery.shape });
