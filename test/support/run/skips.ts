import type { Skip } from './process.ts';

/** Tests that continuous integration may skip, by their reason. Any other skip fails there, so that a missing program is noticed. */
const ALLOWED: [reason: RegExp, why: string][] = [
  [/^LLM_BASE_URL is not set$/, 'a language model is an external server'],
  [/8-bit .* saturate|saturate on this processor/, 'other CPUs run them'],
  [/^needs permission to mount a file system/, 'only root may, and few containers allow it'],
  [
    /is not installed$|^needs (setpriv|libfaketime|pgbouncer|postgresql of)|^this host allows no /,
    'prepare --test installs programs if permitted; otherwise the last lines of the output list them',
  ],
];

export function isAllowed({ reason }: Skip): boolean {
  return ALLOWED.some(([pattern]) => pattern.test(reason));
}
