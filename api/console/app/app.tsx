import { useEffect, useState } from 'preact/hooks';
import { call, ended, remember, type Session } from './client.ts';
import { Authorize } from './pages/authorize.tsx';
import { List } from './pages/list.tsx';
import { Operator } from './pages/operator.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { TranscriptPage } from './pages/transcript.tsx';
import { Workspace } from './pages/workspace.tsx';
import { Waiting } from './parts/basics.tsx';
import { Bell } from './parts/bell.tsx';
import { go, useRoute } from './use.ts';

/** The whole console: who is signed in decides what is shown. */
export function App() {
  const [session, setSession] = useState<Session | null | undefined>(undefined);
  const { path, query } = useRoute();
  const enter = (found: Session | null) => {
    remember(found);
    setSession(found);
  };
  useEffect(() => {
    ended.notify = () => enter(null);
    call<Session>('GET', '/session').then(enter, () => enter(null));
  }, []);
  if (session === undefined) return <Waiting />;
  if (session === null) return <SignIn link={query.get('link')} error={query.get('error')} onSignedIn={enter} />;
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href="#/">
          Longhand
        </a>
        <nav aria-label="Main">
          <Tab to="/" path={path} label="Transcripts" />
          <Tab to="/workspace" path={path} label="Workspace" />
          {session.operator && <Tab to="/operator" path={path} label="Operation" />}
        </nav>
        <span class="quiet who">
          {session.workspace.name} · {session.member.name ?? session.member.email}
        </span>
        <Bell />
        <button
          type="button"
          class="small"
          onClick={async () => {
            await call('DELETE', '/session');
            enter(null);
            go('/');
          }}
        >
          Sign out
        </button>
      </header>
      <main id="content" tabIndex={-1}>
        <Content path={path} query={query} session={session} />
      </main>
    </>
  );
}

function Content({ path, query, session }: { path: string; query: URLSearchParams; session: Session }) {
  if (path.startsWith('/t/')) return <TranscriptPage key={path} id={path.slice(3)} at={Number(query.get('turn')) || null} />;
  if (path.startsWith('/workspace')) return <Workspace session={session} tab={path.split('/')[2] ?? ''} />;
  if (path === '/operator' && session.operator) return <Operator />;
  if (path === '/authorize') return <Authorize />;
  return <List query={query} />;
}

function Tab({ to, path, label }: { to: string; path: string; label: string }) {
  const here = to === '/' ? path === '/' || path.startsWith('/t/') : path.startsWith(to);
  return (
    <a href={`#${to}`} aria-current={here ? 'page' : undefined}>
      {label}
    </a>
  );
}
