import { ApiError } from '../contract/errors.ts';
import { LIMITS } from '../contract/limits.ts';

/** The slugs of a comma-separated list: trimmed, lower case, unique, in order; may be empty. Throws `too_many_reports`. */
export function readSlugs(list: string): string[] {
  const slugs = [...new Set(list.split(',').map((slug) => slug.trim().toLowerCase()))].filter(Boolean);
  if (slugs.length > LIMITS.REPORTS_PER_REQUEST)
    throw new ApiError('too_many_reports', {
      message: `At most ${LIMITS.REPORTS_PER_REQUEST} reports can be requested at once; ${slugs.length} were`,
    });
  return slugs;
}
