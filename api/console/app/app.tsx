import { Fragment } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { call, ended, Refused, remember, type Session } from './client.ts';
import { Activity } from './pages/activity.tsx';
import { Authorize } from './pages/authorize.tsx';
import { Installation } from './pages/installation.tsx';
import { List } from './pages/list.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { TranscriptPage } from './pages/transcript.tsx';
import { Workspace } from './pages/workspace.tsx';
import { Action, Problem, Waiting } from './parts/basics.tsx';
import { Bell } from './parts/bell.tsx';
import { Brand } from './parts/icons.tsx';
import { Menu } from './parts/menu.tsx';
import { Renewal } from './parts/renewal.tsx';
import { createQueue, type UploadQueue } from './uploading.ts';
import { go, passing, RETRY_MS, useRetried, useRoute } from './use.ts';

/**
 * The console: shows what the signed-in person may use. Uploads continue while other pages are open. When the session ends, the page stays
 * with what was typed into it, for the same person who signs in again.
 */
export function App() {
  const [session, setSession] = useState<Session | null | undefined>(undefined);
  const [over, setOver] = useState(false); // the session has ended
  const [member, setMember] = useState(''); // the previous user: if the same person signs in again, their uploads continue
  const uploads = useMemo(() => createQueue(member), [member]);
  const [away, setAway] = useState<Error | null>(null); // why it is not known yet whether there is a session
  const { path, query } = useRoute();
  const enter = (found: Session | null) => {
    remember(found);
    setOver(false);
    setSession(found);
    if (found) setMember(found.member.id);
  };
  const tabs = useMemo(() => new BroadcastChannel('session'), []); // the other tabs, which have the same session
  const change = (found: Session | null) => {
    enter(found);
    tabs.postMessage(null);
  };
  useEffect(() => {
    ended.notify = () => setOver(true);
    tabs.onmessage = () => call<Session>('GET', '/session').then(enter, (failure) => isRefusal(failure) && enter(null));
    const begin = () =>
      call<Session>('GET', '/session').then(change, (failure) => {
        setAway(passing(failure) ? failure : null);
        if (passing(failure)) setTimeout(begin, RETRY_MS);
        else enter(null);
      });
    begin();
    return () => tabs.close();
  }, []);
  useEffect(() => uploads.drop, [uploads]);
  useEffect(uploads.resume, [uploads, session, over]);
  const late = Boolean(session) && !over && path === '/sign-in'; // an unused sign-in link: remove its secret from the address bar
  useEffect(() => {
    if (late) location.replace('#/');
  }, [late]);
  // Not after the next frame: it would take the focus from a field that is already typed into.
  useLayoutEffect(() => document.getElementById('content')?.focus({ preventScroll: true }), [path]);
  if (session === undefined && away) return <Problem error={away} />;
  if (session === undefined || late) return <Waiting />;
  if (session === null || (over && path === '/sign-in')) return <SignIn query={query} onSignedIn={change} />;
  return (
    <Fragment key={session.member.id}>
      <button type="button" class="skip" onClick={() => document.getElementById('content')!.focus()}>
        Skip to content
      </button>
      <header class="top no-print">
        <Brand />
        <nav aria-label="Main">
          <Tab to="/" path={path} label="Transcripts" />
          <Tab to="/workspace" path={path} label="Workspace" />
          {session.member.role === 'owner' && <Tab to="/activity" path={path} label="Activity" />}
          {session.operator && <Tab to="/installation" path={path} label="Installation" />}
        </nav>
        <div class="own">
          <Bell />
          <Account session={session} leave={() => change(null)} />
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <Content path={path} query={query} session={session} uploads={uploads} />
      </main>
      {over && <Renewal email={session.member.email} onSignedIn={change} />}
    </Fragment>
  );
}

/** The service knows no session of this browser. */
const isRefusal = (failure: unknown) => failure instanceof Refused && failure.status === 401;

interface Place {
  path: string;
  query: URLSearchParams;
  session: Session;
  uploads: UploadQueue;
}

function Content({ path, query, session, uploads }: Place) {
  if (path.startsWith('/t/'))
    return (
      <TranscriptPage
        key={path}
        id={path.slice(3)}
        at={Number(query.get('turn')) || null}
        look={query.get('find') ?? ''}
        session={session}
      />
    );
  if (path.startsWith('/workspace')) return <Workspace session={session} tab={path.split('/')[2] ?? ''} />;
  if (path === '/activity' && session.member.role === 'owner') return <Activity />;
  if (path === '/installation' && session.operator) return <Installation />;
  if (path === '/authorize') return <Authorize />;
  return <List query={query} session={session} uploads={uploads} />;
}

function Tab({ to, path, label }: { to: string; path: string; label: string }) {
  const here = to === '/' ? path === '/' || path.startsWith('/t/') : path.startsWith(to);
  return (
    <a href={`#${to}`} aria-current={here ? 'page' : undefined}>
      {label}
    </a>
  );
}

function Account({ session: { member, workspace }, leave }: { session: Session; leave: () => void }) {
  const options = useRetried<{ version: string }>('/options');
  return (
    <Menu kind="bare" name="Account" label={<span class="face">{(member.name ?? member.email).slice(0, 1).toUpperCase()}</span>}>
      <div class="told">
        <b>{member.name ?? member.email}</b>
        <div class="quiet">{member.email}</div>
        <div class="quiet">
          {workspace.name}, {member.role}
        </div>
      </div>
      <hr />
      <a class="choice" href="/docs/guides">
        Guides
      </a>
      <a class="choice" href="/docs">
        API reference <span class="quiet">{options?.version}</span>
      </a>
      <hr />
      <Action
        kind="choice"
        run={async () => {
          await call('DELETE', '/session').catch((failure) => {
            if (!isRefusal(failure)) throw failure; // otherwise it had ended already
          });
          leave();
          go('/');
        }}
      >
        Sign out
      </Action>
    </Menu>
  );
}
