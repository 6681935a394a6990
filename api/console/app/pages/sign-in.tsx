import { useEffect, useState } from 'preact/hooks';
import { call, type Session } from '../client.ts';
import { Problem } from '../parts/basics.tsx';
import { Brand } from '../parts/icons.tsx';
import { Ways } from '../parts/ways.tsx';
import { go, useLoaded, useTitle } from '../use.ts';

type Proof = { key: string } | { link: string } | { invitation: string } | { workspace_id: string };

/**
 * Sign-in by API key, by a link or an invitation, or with an OpenID Connect provider, after which people with several workspaces choose
 * one.
 */
export function SignIn({ query, onSignedIn }: { query: URLSearchParams; onSignedIn: (session: Session) => void }) {
  useTitle('Sign in');
  const [link, invitation, error] = ['link', 'invitation', 'error'].map((name) => query.get(name));
  const [problem, setProblem] = useState<Error | null>(error ? new Error(error) : null);
  const enter = async (proof: Proof) => {
    setProblem(null);
    const session = await call<Session>('POST', '/session', proof);
    const back = query.get('return');
    if ('workspace_id' in proof && back && /^\/(?![/\\])/.test(back)) return location.assign(back);
    if (!('key' in proof)) go('/');
    onSignedIn(session);
  };
  useEffect(() => {
    if (link) enter({ link }).catch(setProblem);
  }, [link]);
  const here = encodeURIComponent(location.pathname + location.search + (query.size ? '' : location.hash));
  return (
    <main class="enter">
      <div class="card">
        <h1 class="unseen">Sign in to Longhand</h1>
        <Brand link={false} />
        <p class="quiet">Transcripts of your calls and meetings, made on your own machines.</p>
        <Problem error={problem} />
        {invitation && (
          <p>
            <button type="button" class="main" onClick={() => enter({ invitation }).catch(setProblem)}>
              Accept the invitation
            </button>
          </p>
        )}
        {query.has('choose') && <Choices choose={(id) => enter({ workspace_id: id }).catch(setProblem)} />}
        <Ways back={here} enter={(key) => enter({ key })} />
        <p class="quiet">
          No key? Ask the operator for a sign-in link. The <a href="/docs">API reference</a> is public.
        </p>
      </div>
    </main>
  );
}

interface Choice {
  workspace: { id: string; name: string };
  /** False: an invitation. */
  accepted: boolean;
}

/** The workspaces of the person who returned from the provider. */
function Choices({ choose }: { choose: (workspaceId: string) => void }) {
  const { value, error } = useLoaded<{ email: string; items: Choice[] }>('/session/choices');
  return (
    <section aria-label="Workspaces">
      <Problem error={error} />
      {value && <p class="quiet">Signed in as {value.email}. Choose a workspace:</p>}
      {value?.items.map(({ workspace, accepted }) => (
        <p key={workspace.id}>
          <button type="button" onClick={() => choose(workspace.id)}>
            {accepted ? workspace.name : `Accept the invitation to ${workspace.name}`}
          </button>
        </p>
      ))}
    </section>
  );
}
