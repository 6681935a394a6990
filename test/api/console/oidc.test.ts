import t from 'tap';
import { type Response, testApi } from '../../support/api/client.ts';
import { cookieOf, visit, visitor } from '../../support/console/console.ts';
import { CLIENT, type Person, startOidc } from '../../support/servers/oidc-server.ts';

const provider = await startOidc(t);
const api = await testApi(t, { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret });
const workspace = await api.world.workspace({ name: 'Acme' });
const ann = await api.world.member(workspace, { email: 'Ann@example.com', name: 'Ann' });
await api.world.member(workspace, { email: 'left@example.com', status: 'removed' });
await api.world.member(workspace, { email: 'soon@example.com', status: 'pending' });
const known: Person = { email: 'ann@EXAMPLE.com', email_verified: true };

/** Signs in at the provider and returns, as a browser does. `change` may tamper with the return address. */
async function goThrough(
  person: Person,
  { start = '', change = (url: URL) => url, cookie }: { start?: string; change?: (url: URL) => URL; cookie?: string } = {},
) {
  provider.person = person;
  const first = await api.call('', 'GET', `/v1/app/oidc/start${start}`);
  t.equal(first.status, 302);
  const held = cookie ?? cookieOf(first, 'longhand_oidc') ?? '';
  const back = await fetch(first.headers.location!, { redirect: 'manual' });
  const url = change(new URL(back.headers.get('location')!));
  return { first, url, held, last: await api.call('', 'GET', url.pathname + url.search, { headers: { cookie: held } }) };
}

/** The message that the sign-in page receives. */
const messageOf = ({ headers }: { headers: Readonly<Record<string, string | undefined>> }) =>
  decodeURIComponent(/^\/#\/sign-in\?error=(.+)$/.exec(headers.location ?? '')?.[1] ?? '');

t.test('a member with a verified address is signed in by the provider', async (t) => {
  t.match((await api.call('', 'GET', '/v1/app/options')).json, { oidc: { name: '127.0.0.1' } });
  const { first, last } = await goThrough(known, { start: '?return=%2F%3Fclient_id%3Dx%23%2Fauthorize' });
  const parameters = new URL(first.headers.location!).searchParams;
  t.match(Object.fromEntries(parameters), {
    response_type: 'code',
    client_id: CLIENT.id,
    code_challenge_method: 'S256',
    code_challenge: /^[\w-]{43}$/,
    state: /./,
    nonce: /./,
    redirect_uri: `${api.url}/v1/app/oidc/callback`,
  });
  for (const flag of [/; HttpOnly/, /; SameSite=Lax/, /; Path=\/v1\/app\/oidc\/callback/, /; Max-Age=600/])
    t.match(String(first.headers['set-cookie']), flag);
  t.match(last, { status: 302, headers: { location: '/?client_id=x#/authorize' } });
  t.match(String(last.headers['set-cookie']), /; HttpOnly; SameSite=Strict/);
  const session = await visitor(api, cookieOf(last)!, '').ask('GET', '/session');
  t.match(session, { status: 200, json: { member: { id: ann.id }, workspace: { name: 'Acme' }, oidc: { name: '127.0.0.1' } } });
});

t.test('the email address may come from the user information endpoint', async (t) => {
  const { last } = await goThrough({ ...known, apart: true });
  t.match(last, { status: 302, headers: { location: '/' } });
  t.ok(cookieOf(last));
});

/** Requests, like the page, the workspaces a person may enter, and a session in the chosen one. */
async function choose(last: Response, workspaceId: string) {
  const cookie = cookieOf(last)!;
  const shown = await api.call('', 'GET', '/v1/app/session/choices', { headers: { cookie } });
  const entered = await api.call('', 'POST', '/v1/app/session', { headers: { cookie }, body: { workspace_id: workspaceId } });
  return { shown, entered };
}

t.test('an owner of another workspace cannot bring a person into theirs by adding the address of that person', async (t) => {
  const bea = await api.world.member(workspace, { email: 'bea@example.com' });
  const foreign = await api.world.workspace({ name: 'Trap' });
  const trapper = await visit(api, await api.world.key(await api.world.member(foreign, { role: 'owner' })));
  t.equal((await trapper.ask('POST', '/members', { email: 'bea@example.com' })).status, 201, 'active, and added last');
  const person: Person = { email: 'bea@example.com', email_verified: true };
  const { last } = await goThrough(person);
  const session = await visitor(api, cookieOf(last)!, '').ask('GET', '/session');
  t.match(session.json, { member: { id: bea.id }, workspace: { name: 'Acme' } });
  for (const email of ['dan@example.com', 'eve@example.com'])
    t.equal((await trapper.ask('POST', email < 'e' ? '/members' : '/invitations', { email })).status, 201);
  for (const email of ['dan@example.com', 'eve@example.com']) {
    const { last } = await goThrough({ email, email_verified: true });
    t.equal(last.headers.location, '/#/sign-in?choose=1', `${email} has agreed to nothing yet`);
    t.equal((await visitor(api, cookieOf(last)!, '').ask('GET', '/session')).status, 401);
    const { shown, entered } = await choose(last, foreign);
    t.match(shown.json, { email, items: [{ workspace: { name: 'Trap' }, accepted: false }] });
    t.match(
      entered,
      { status: 201, json: { workspace: { name: 'Trap' }, member: { email } } },
      'choosing the workspace accepts the membership',
    );
    t.match(
      (await goThrough({ email, email_verified: true })).last.headers.location,
      /^\/$/,
      'from then on the sign-in enters it directly',
    );
  }
});

t.test('a person with several workspaces chooses one; nobody can choose a workspace of others, or on behalf of others', async (t) => {
  const second = await api.world.workspace({ name: 'Second' });
  await api.world.member(workspace, { email: 'fay@example.com' });
  await api.world.member(second, { email: 'fay@example.com' });
  const fay: Person = { email: 'fay@example.com', email_verified: true };
  const { last } = await goThrough(fay, { start: '?return=%2F%3Fclient_id%3Dx%23%2Fauthorize' });
  t.equal(last.headers.location, `/#/sign-in?${new URLSearchParams({ choose: '1', return: '/?client_id=x#/authorize' })}`);
  const strange = await api.world.workspace({ name: 'Strange' });
  t.equal((await choose(last, strange)).entered.status, 401);
  const { shown, entered } = await choose(last, second);
  t.strictSame(
    shown.json.items.map((item: { workspace: { name: string }; accepted: boolean }) => [item.workspace.name, item.accepted]),
    [
      ['Acme', true],
      ['Second', true],
    ],
  );
  t.match(entered, { status: 201, json: { workspace: { name: 'Second' } } });
  t.equal((await api.call('', 'GET', '/v1/app/session/choices', { headers: { cookie: cookieOf(entered)! } })).status, 401, 'only once');
  t.equal(
    (await api.call('', 'POST', '/v1/app/session', { body: { workspace_id: second } })).status,
    401,
    'without having signed in at the provider',
  );
  const forged = cookieOf(last)!.replace(/\.[^.]+$/, '.AAAA');
  t.equal((await api.call('', 'GET', '/v1/app/session/choices', { headers: { cookie: forged } })).status, 401);
  const parameters = (await goThrough(fay)).held.replace('longhand_oidc', 'longhand_session');
  t.equal(
    (await api.call('', 'GET', '/v1/app/session/choices', { headers: { cookie: parameters } })).status,
    401,
    'a sign-in that was only begun proves no identity',
  );
});

t.test('a member is bound to one person of the provider, even if email addresses change', async (t) => {
  const gus = await api.world.member(workspace, { email: 'gus@example.com' });
  const first: Person = { email: 'gus@example.com', email_verified: true, subject: 'gus-1' };
  t.ok(cookieOf((await goThrough(first)).last));
  const heir = { ...first, subject: 'gus-2' };
  t.match(
    messageOf((await goThrough(heir)).last),
    /No workspace here has a member with your e-mail address/,
    'another person has the address now',
  );
  const { last } = await goThrough({ ...first, email: 'gustav@example.com' });
  t.match(
    (await visitor(api, cookieOf(last)!, '').ask('GET', '/session')).json,
    { member: { id: gus.id } },
    'with a new address, the same person',
  );
});

t.test('a provider that never states whether an address is verified is trusted only if the operator accepts the risk', async (t) => {
  const settings = { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret };
  const risky = await testApi(t, { ...settings, OIDC_UNVERIFIED_EMAIL: 'trust_and_risk_impersonation' });
  await risky.world.member(await risky.world.workspace(), { email: 'ann@example.com' });
  const ways = async (person: Person) => {
    provider.person = person;
    const first = await risky.call('', 'GET', '/v1/app/oidc/start');
    const url = new URL((await fetch(first.headers.location!, { redirect: 'manual' })).headers.get('location')!);
    return risky.call('', 'GET', url.pathname + url.search, { headers: { cookie: cookieOf(first, 'longhand_oidc')! } });
  };
  t.match(
    messageOf(await ways({ email: 'ann@example.com', email_verified: false })),
    /does not confirm/,
    'not if the provider states that it is unverified',
  );
  t.ok(cookieOf(await ways({ email: 'ann@example.com' })));
});

t.test('the return path stays on this site', async (t) => {
  for (const path of ['//evil.example', 'https://evil.example', '/\\evil.example', '/a\r\nset-cookie:x=y', 'evil']) {
    t.equal((await goThrough(known, { start: `?return=${encodeURIComponent(path)}` })).last.headers.location, '/', path);
  }
});

t.test('a token that is wrong in any way signs nobody in', async (t) => {
  const wrong: Record<string, Person> = {
    'another nonce': { ...known, claims: { nonce: 'replayed' } },
    'another audience': { ...known, claims: { aud: 'somebody-else' } },
    'another issuer': { ...known, claims: { iss: 'https://evil.example' } },
    'over since an hour': { ...known, claims: { exp: Math.floor(Date.now() / 1000) - 3600 } },
    'a signature of another key': { ...known, forged: true },
    'a person who refuses': { ...known, refuses: true },
  };
  for (const [name, person] of Object.entries(wrong)) {
    const { last } = await goThrough(person);
    t.match(messageOf(last), /The sign-in failed/, name);
    t.notOk(last.headers['set-cookie'], name);
  }
});

t.test('an address that is not verified or not of an active member signs nobody in', async (t) => {
  for (const person of [{ email: 'ann@example.com', email_verified: false }, { email: 'ann@example.com' }, {}]) {
    t.match(messageOf((await goThrough(person)).last), /does not confirm/, JSON.stringify(person));
  }
  for (const email of ['nobody@example.com', 'left@example.com', 'soon@example.com']) {
    const { last } = await goThrough({ email, email_verified: true });
    t.match(messageOf(last), /No workspace here has a member with your e-mail address/, email);
    t.notOk(last.headers['set-cookie']);
  }
});

t.test('a response is accepted only in the browser that started the sign-in, with its state, once', async (t) => {
  const swapped = await goThrough(known, { change: (url) => new URL(url.href.replace(/state=[^&]+/, 'state=x')) });
  t.match(messageOf(swapped.last), /The sign-in failed/);
  const without = await api.call('', 'GET', swapped.url.pathname + swapped.url.search);
  t.match(messageOf(without), /not started in this browser/);
  const { held } = await goThrough(known);
  t.match(messageOf((await goThrough(known, { cookie: held })).last), /The sign-in failed/, 'the cookie of another attempt');
  t.match(
    messageOf((await goThrough(known, { cookie: `${held}x` })).last),
    /The sign-in failed/,
    'a cookie that is not signed by this server',
  );
  const done = await goThrough(known);
  const again = await api.call('', 'GET', done.url.pathname + done.url.search, { headers: { cookie: done.held } });
  t.match(messageOf(again), /The sign-in failed/, 'a used code');
});

t.test('a stranger who tries to enter a workspace keeps none of its members out', async (t) => {
  const settings = { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret };
  const here = await testApi(t, { ...settings, LONGHAND_TRUST_PROXY: '127.0.0.1' });
  const [target, other] = [await here.world.workspace({ name: 'Target' }), await here.world.workspace({ name: 'Other' })];
  for (const place of [target, other]) await here.world.member(place, { email: 'hal@example.com' });
  for (const place of [other, await here.world.workspace()]) await here.world.member(place, { email: 'ida@example.com' });
  const arrive = async (email: string, from: string) => {
    provider.person = { email, email_verified: true };
    const first = await here.call('', 'GET', '/v1/app/oidc/start');
    const url = new URL((await fetch(first.headers.location!, { redirect: 'manual' })).headers.get('location')!);
    const cookie = cookieOf(
      await here.call('', 'GET', url.pathname + url.search, { headers: { cookie: cookieOf(first, 'longhand_oidc')! } }),
    )!;
    return async () =>
      (await here.call('', 'POST', '/v1/app/session', { body: { workspace_id: target }, headers: { cookie, 'x-forwarded-for': from } }))
        .status;
  };
  const stranger = await arrive('ida@example.com', '192.0.2.1');
  let status = await stranger();
  for (let tries = 1; tries < 100 && status === 401; tries++) status = await stranger();
  t.equal(status, 429, 'the stranger has to wait');
  t.equal(await (await arrive('hal@example.com', '192.0.2.2'))(), 201);
});

t.test('a person or address with too many failed sign-ins has to wait', async (t) => {
  const tryUntilLimited = async (person: Person) => {
    for (let tries = 0; ; tries++) {
      const text = messageOf((await goThrough(person)).last);
      if (/wait a minute/.test(text) || tries === 100) return { text, tries };
    }
  };
  const stranger = await tryUntilLimited({ email: 'stranger@example.com', email_verified: true });
  t.match(stranger.text, /Too many failed sign-ins/);
  t.ok(cookieOf((await goThrough(known)).last), 'another person can sign in from the same address');
  const forger = await tryUntilLimited({ ...known, forged: true });
  t.match(forger.text, /Too many failed sign-ins/);
});

t.test('a missing, insecure or unreachable provider is reported to the person', async (t) => {
  const none = await testApi(t);
  t.match((await none.call('', 'GET', '/v1/app/options')).json, { oidc: null });
  t.match(messageOf(await none.call('', 'GET', '/v1/app/oidc/start')), /No sign-in provider/);
  const rest = { OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret };
  for (const OIDC_ISSUER of ['http://provider.example', 'http://127.0.0.1:9']) {
    const far = await testApi(t, { OIDC_ISSUER, ...rest });
    t.match(messageOf(await far.call('', 'GET', '/v1/app/oidc/start')), /not responding/, OIDC_ISSUER);
  }
});
