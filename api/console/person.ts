import type { ProviderIdentity } from '../../db/access/sign-in.ts';
import { ApiError } from '../contract/errors.ts';
import { COOKIE, sessionCookie } from '../guard/session.ts';
import { readCookie } from '../http/cookies.ts';
import type { Context } from '../http/route.ts';
import { pack, unpack } from './oidc.ts';

/* Between the return from the provider and the choice of a workspace, a cookie holds the identity confirmed by the provider. It uses the
   place of the session cookie, which replaces it afterwards. */

export async function personCookie(context: Context, person: ProviderIdentity): Promise<string> {
  return sessionCookie(context, await pack(context.settings, 'person', person));
}

/** Throws 401 if nobody returned from the provider within ten minutes. */
export async function personOf({ request, settings }: Context): Promise<ProviderIdentity> {
  try {
    const { issuer, subject, email } = await unpack<ProviderIdentity>(settings, 'person', readCookie(request, COOKIE) ?? '');
    return { issuer, subject, email };
  } catch {
    throw new ApiError('unauthorized', { message: 'The sign-in took too long, or was started elsewhere: sign in again' });
  }
}
