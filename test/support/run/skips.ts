import type { Skip } from './process.ts';

/** The tests that continuous integration may skip, by the reason they give. Any other one fails there: a program that is missing would go unseen. */
const ALLOWED: [reason: RegExp, why: string][] = [
  [/^LLM_BASE_URL is not set$/, 'a language model is a server of somebody'],
  [/8-bit .* saturate|saturate on this processor/, 'the other kind of processor runs them'],
  [
    /is not installed$|^needs (setpriv|libfaketime|pgbouncer|postgresql of)|^this host allows no /,
    'prepare --test installs programs where it may: a host that forbids it says so in the last lines',
  ],
];

export function isAllowed({ reason }: Skip): boolean {
  return ALLOWED.some(([pattern]) => pattern.test(reason));
}
