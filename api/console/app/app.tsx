import { useEffect, useMemo, useState } from 'preact/hooks';
import { call, ended, remember, type Session } from './client.ts';
import { Activity } from './pages/activity.tsx';
import { Authorize } from './pages/authorize.tsx';
import { Installation } from './pages/installation.tsx';
import { List } from './pages/list.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { TranscriptPage } from './pages/transcript.tsx';
import { Workspace } from './pages/workspace.tsx';
import { Waiting } from './parts/basics.tsx';
import { Bell } from './parts/bell.tsx';
import { Brand } from './parts/icons.tsx';
import { Menu } from './parts/menu.tsx';
import { createQueue, type UploadQueue } from './uploading.ts';
import { go, useLoaded, useRoute } from './use.ts';

/** The console: shows what the signed-in person may use. Uploads continue while other pages are open. */
export function App() {
  const [session, setSession] = useState<Session | null | undefined>(undefined);
  const [member, setMember] = useState(''); // the previous user: if the same person signs in again, their uploads continue
  const uploads = useMemo(createQueue, [member]);
  const { path, query } = useRoute();
  const enter = (found: Session | null) => {
    remember(found);
    setSession(found);
    if (found) setMember(found.member.id);
  };
  useEffect(() => {
    ended.notify = () => enter(null);
    call<Session>('GET', '/session').then(enter, () => enter(null));
  }, []);
  useEffect(() => uploads.drop, [uploads]);
  const late = Boolean(session) && path === '/sign-in'; // an unused sign-in link: remove its secret from the address bar
  useEffect(() => {
    if (late) location.replace('#/');
  }, [late]);
  useEffect(() => document.getElementById('content')?.focus({ preventScroll: true }), [path]);
  if (session === undefined || late) return <Waiting />;
  if (session === null) return <SignIn query={query} onSignedIn={enter} />;
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
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
          <Account session={session} leave={() => enter(null)} />
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <Content path={path} query={query} session={session} uploads={uploads} />
      </main>
    </>
  );
}

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
  const { value } = useLoaded<{ version: string }>('/options');
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
        API reference <span class="quiet">{value?.version}</span>
      </a>
      <hr />
      <button
        type="button"
        class="choice"
        onClick={async () => {
          await call('DELETE', '/session');
          leave();
          go('/');
        }}
      >
        Sign out
      </button>
    </Menu>
  );
}
