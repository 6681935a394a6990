import type { AuthorRef } from '../../db/tenants/authors.ts';
import { isUuid } from '../../db/tenants/visibility.ts';
import { ApiError } from '../contract/errors.ts';

const TYPES = ['email', 'user', 'external'];

/**
 * Parses an author reference: `email:<email>`, `user:<uuid>` or `external:<provider>:<id>`. Throws `invalid_author` or
 * `unsupported_author_type`.
 */
export function readAuthor(text: string): AuthorRef {
  const [type, value] = splitOnce(text);
  if (!type || !value) throw new ApiError('invalid_author');
  if (!TYPES.includes(type)) throw new ApiError('unsupported_author_type');
  if (type === 'email') {
    const email = value.trim().toLowerCase();
    if (!email) throw new ApiError('invalid_author');
    return { kind: 'email', email };
  }
  if (type === 'user') {
    if (!isUuid(value)) throw new ApiError('invalid_author');
    return { kind: 'user', id: value };
  }
  const [provider, externalId] = splitOnce(value);
  if (!provider || !externalId) throw new ApiError('invalid_author');
  return { kind: 'external', provider: provider.toLowerCase(), externalId };
}

/** Both sides of the first colon; null if there is none. An id may contain further colons, and spaces. */
function splitOnce(text: string): [string | null, string | null] {
  const colon = text.indexOf(':');
  return colon < 0 ? [null, null] : [text.slice(0, colon), text.slice(colon + 1)];
}
