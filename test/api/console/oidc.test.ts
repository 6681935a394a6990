import t from 'tap';
import { testApi } from '../../support/client.ts';
import { cookieOf, visitor } from '../../support/console.ts';
import { CLIENT, type Person, startOidc } from '../../support/oidc-server.ts';

const provider = await startOidc(t);
const api = await testApi(t, { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret });
const workspace = await api.world.workspace({ name: 'Acme' });
const ann = await api.world.member(workspace, { email: 'Ann@example.com', name: 'Ann' });
await api.world.member(workspace, { email: 'left@example.com', status: 'removed' });
await api.world.member(workspace, { email: 'soon@example.com', status: 'pending' });
const known: Person = { email: 'ann@EXAMPLE.com', email_verified: true };

/** To the provider and back, as a browser goes. `change` may tamper with the return address. */
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

/** The sentence that the sign-in page is given. */
const told = ({ headers }: { headers: Readonly<Record<string, string | undefined>> }) =>
  decodeURIComponent(/^\/#\/sign-in\?error=(.+)$/.exec(headers.location ?? '')?.[1] ?? '');

t.test('a member with a verified address is signed in by the provider', async (t) => {
  t.match((await api.call('', 'GET', '/v1/app/options')).json, { oidc: { name: '127.0.0.1' } });
  const { first, last } = await goThrough(known, { start: '?return=%2F%3Fclient_id%3Dx%23%2Fauthorize' });
  const asked = new URL(first.headers.location!).searchParams;
  t.match(Object.fromEntries(asked), {
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

t.test('the address may come with the user information', async (t) => {
  const { last } = await goThrough({ ...known, apart: true });
  t.match(last, { status: 302, headers: { location: '/' } });
  t.ok(cookieOf(last));
});

t.test('of several workspaces a person enters the one joined last', async (t) => {
  const second = await api.world.workspace({ name: 'Newer' });
  await api.world.member(second, { email: 'ann@example.com' });
  const { last } = await goThrough(known);
  t.match((await visitor(api, cookieOf(last)!, '').ask('GET', '/session')).json, { workspace: { name: 'Newer' } });
});

t.test('the return path stays on this site', async (t) => {
  for (const path of ['//evil.example', 'https://evil.example', '/\\evil.example', '/a\r\nset-cookie:x=y', 'evil']) {
    t.equal((await goThrough(known, { start: `?return=${encodeURIComponent(path)}` })).last.headers.location, '/', path);
  }
});

t.test('nobody is signed in by a token that is wrong in any way', async (t) => {
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
    t.match(told(last), /The sign-in failed/, name);
    t.notOk(last.headers['set-cookie'], name);
  }
});

t.test('nobody is signed in by an address that is not verified or not of an active member', async (t) => {
  for (const person of [{ email: 'ann@example.com', email_verified: false }, { email: 'ann@example.com' }, {}]) {
    t.match(told((await goThrough(person)).last), /does not vouch/, JSON.stringify(person));
  }
  for (const email of ['nobody@example.com', 'left@example.com', 'soon@example.com']) {
    const { last } = await goThrough({ email, email_verified: true });
    t.match(told(last), /Nobody here has your address/, email);
    t.notOk(last.headers['set-cookie']);
  }
});

t.test('an answer is taken only in the browser that asked, with its state, once', async (t) => {
  const swapped = await goThrough(known, { change: (url) => new URL(url.href.replace(/state=[^&]+/, 'state=x')) });
  t.match(told(swapped.last), /The sign-in failed/);
  const without = await api.call('', 'GET', swapped.url.pathname + swapped.url.search);
  t.match(told(without), /not begun in this browser/);
  const { held } = await goThrough(known);
  t.match(told((await goThrough(known, { cookie: held })).last), /The sign-in failed/, 'the cookie of another attempt');
  t.match(told((await goThrough(known, { cookie: `${held}x` })).last), /The sign-in failed/, 'a cookie that is not signed by this server');
  const done = await goThrough(known);
  const again = await api.call('', 'GET', done.url.pathname + done.url.search, { headers: { cookie: done.held } });
  t.match(told(again), /The sign-in failed/, 'a code that was used');
});

t.test('who fails too often is told to wait, by person and by address', async (t) => {
  const said = async (person: Person) => {
    for (let tries = 0; ; tries++) {
      const text = told((await goThrough(person)).last);
      if (/wait a minute/.test(text) || tries === 100) return { text, tries };
    }
  };
  const stranger = await said({ email: 'stranger@example.com', email_verified: true });
  t.match(stranger.text, /Too many sign-ins failed/);
  t.ok(cookieOf((await goThrough(known)).last), 'another person from the same address comes in');
  const forger = await said({ ...known, forged: true });
  t.match(forger.text, /Too many sign-ins failed/);
});

t.test('without a provider, or with one that is not to be trusted or not there, people are told so', async (t) => {
  const none = await testApi(t);
  t.match((await none.call('', 'GET', '/v1/app/options')).json, { oidc: null });
  t.match(told(await none.call('', 'GET', '/v1/app/oidc/start')), /No sign-in provider/);
  const rest = { OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret };
  for (const OIDC_ISSUER of ['http://provider.example', 'http://127.0.0.1:9']) {
    const far = await testApi(t, { OIDC_ISSUER, ...rest });
    t.match(told(await far.call('', 'GET', '/v1/app/oidc/start')), /does not answer/, OIDC_ISSUER);
  }
});
