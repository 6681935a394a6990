import { useEffect, useState } from 'preact/hooks';
import { call, type Session } from '../client.ts';
import { Field, Form, Problem } from '../parts/basics.tsx';
import { Brand } from '../parts/icons.tsx';
import { go, useLoaded } from '../use.ts';

/** By API key, by a link from `longhand admin member link`, or by the organisation's own provider. */
export function SignIn({ link, error, onSignedIn }: { link: string | null; error: string | null; onSignedIn: (session: Session) => void }) {
  const { value: ways } = useLoaded<{ oidc: { name: string } | null; version: string }>('/options');
  const [problem, setProblem] = useState<Error | null>(error ? new Error(error) : null);
  const enter = async (proof: { key: string } | { link: string }) => {
    const session = await call<Session>('POST', '/session', proof);
    if ('link' in proof) go('/');
    onSignedIn(session);
  };
  useEffect(() => {
    if (link) enter({ link }).catch(setProblem);
  }, [link]);
  const here = encodeURIComponent(location.pathname + location.search + (link || error ? '' : location.hash));
  return (
    <main class="enter">
      <div class="card">
        <h1 class="unseen">Sign in to Longhand</h1>
        <Brand link={false} />
        <p class="quiet">Transcripts of your calls and meetings, made on your own machines.</p>
        <Problem error={problem} />
        {ways?.oidc && (
          <p>
            <a class="button main" href={`/v1/app/oidc/start?return=${here}`}>
              Sign in with {ways.oidc.name}
            </a>
          </p>
        )}
        <Form label="Sign in" kind="" send={({ key = '' }) => enter({ key: key.trim() })}>
          <Field label="API key">
            <input name="key" type="password" required autocomplete="current-password" placeholder="lh_…" />
          </Field>
        </Form>
        <p class="quiet">
          No key? Ask the operator for a sign-in link. The <a href="/docs">API reference</a> is open to all.
        </p>
      </div>
    </main>
  );
}
