import { z } from 'zod';
import { openSession } from '../../../db/access/sessions.ts';
import { enter, findDoors } from '../../../db/access/sign-in.ts';
import { ApiError } from '../../contract/errors.ts';
import { sessionCookie } from '../../guard/session.ts';
import { readCookie, setCookie } from '../../http/cookies.ts';
import { originOf } from '../../http/public-url.ts';
import { json, type Reply, route } from '../../http/route.ts';
import { type Asked, begin, pack, providerName, returnedPerson, Unverified, unpack } from '../oidc.ts';
import { personCookie, personOf } from '../person.ts';

const open = { tag: 'Console', access: null, hidden: true, answers: {}, errors: [] } as const;
const COOKIE = 'longhand_oidc';
const BACK = '/v1/app/oidc/callback';
/** A path on this site: one slash, then printable ASCII without backslashes. */
const LOCAL = /^\/(?!\/)[!-[\]-~]*$/;

const see = (location: string, headers: Record<string, string> = {}): Reply => ({
  status: 302,
  headers: { location, 'cache-control': 'no-store', ...headers },
  body: '',
});
const refuse = (sentence: string) => see(`/#/sign-in?error=${encodeURIComponent(sentence)}`);

/** Redirects the browser to the sign-in provider. */
export const startOidc = route({
  ...open,
  method: 'GET',
  path: '/v1/app/oidc/start',
  summary: 'Sign in with OpenID Connect',
  query: z.object({ return: z.string().max(8_000).optional() }),
  async handler(context) {
    const { settings, request, log, query } = context;
    if (!providerName(settings)) return refuse('No sign-in provider is configured');
    const origin = originOf(request, settings);
    try {
      const next = query.return && LOCAL.test(query.return) ? query.return : '/';
      const { url, asked } = await begin(settings, origin + BACK, next);
      const secure = origin.startsWith('https:');
      // Lax, because the browser returns from the provider's site, and Strict cookies would not be sent
      const cookie = setCookie(COOKIE, await pack(settings, 'asked', asked), { path: BACK, sameSite: 'lax', maxAge: 600, secure });
      return see(url, { 'set-cookie': cookie });
    } catch (error) {
      log.warn({ error: (error as Error).message }, 'cannot reach the sign-in provider');
      return refuse('The sign-in provider is not responding: try again later');
    }
  },
});

/** Return from the provider: people with one workspace enter it; those with several, or with invitations only, choose. */
export const endOidc = route({
  ...open,
  method: 'GET',
  path: BACK,
  summary: 'Back from the provider',
  async handler(context) {
    const { settings, request, log, db, signIns } = context;
    const cookie = readCookie(request, COOKIE);
    if (!cookie) return refuse('This sign-in was not started in this browser, or took too long: try again');
    try {
      signIns.check(request.address);
      const asked = await unpack<Asked>(settings, 'asked', cookie);
      const returned = new URL(originOf(request, settings) + BACK);
      for (const [name, [value]] of request.parameters) returned.searchParams.set(name, value!);
      const person = await returnedPerson(settings, returned, asked);
      signIns.check(person.email.toLowerCase());
      const { doors, token } = await db.acrossTenants(async (tx) => {
        const doors = await findDoors(tx, person);
        const accepted = doors.filter((door) => door.accepted);
        const entrant = accepted.length === 1 ? await enter(tx, person, accepted[0]!.workspaceId) : null;
        return { doors, token: entrant && (await openSession(tx, entrant)) };
      });
      if (token) return see(asked.next, { 'set-cookie': sessionCookie(context, token) });
      if (doors.length) {
        const query = new URLSearchParams({ choose: '1', ...(asked.next !== '/' && { return: asked.next }) });
        return see(`/#/sign-in?${query}`, { 'set-cookie': await personCookie(context, person) });
      }
      signIns.count(person.email.toLowerCase());
      return refuse('No workspace here has a member with your e-mail address: ask a workspace owner to invite you');
    } catch (error) {
      log.warn({ error: (error as Error).message }, 'a sign-in by OpenID Connect failed');
      if (error instanceof ApiError && error.code === 'rate_limit_exceeded')
        return refuse('Too many failed sign-ins: wait a minute and try again');
      signIns.count(request.address);
      if (error instanceof Unverified) return refuse('The sign-in provider does not confirm your e-mail address');
      return refuse('The sign-in failed: try again');
    }
  },
});

/** The workspaces that the person who returned from the provider may enter; `accepted` false: an invitation, accepted by choosing it. */
export const choices = route({
  ...open,
  method: 'GET',
  path: '/v1/app/session/choices',
  summary: 'Workspaces to choose from',
  async handler(context) {
    const person = await personOf(context);
    const doors = await context.db.acrossTenants((tx) => findDoors(tx, person));
    const items = doors.map(({ workspaceId, workspaceName, accepted }) => ({
      workspace: { id: workspaceId, name: workspaceName },
      accepted,
    }));
    return json(200, { email: person.email, items }, { 'cache-control': 'no-store' });
  },
});
