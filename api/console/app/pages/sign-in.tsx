import { useEffect, useState } from 'preact/hooks';
import { call, type Session } from '../client.ts';
import { Field, Form, Problem } from '../parts/basics.tsx';
import { go, useLoaded } from '../use.ts';

/** By API key, by a link from `longhand admin member link`, or by the organisation's own provider. */
export function SignIn({ link, error, onSignedIn }: { link: string | null; error: string | null; onSignedIn: (session: Session) => void }) {
  const { value: ways } = useLoaded<{ oidc: { name: string } | null }>('/options');
  const [problem, setProblem] = useState<Error | null>(error ? new Error(error) : null);
  const enter = async (proof: { key: string } | { link: string }) => {
    onSignedIn(await call<Session>('POST', '/session', proof));
    if ('link' in proof) go('/');
  };
  useEffect(() => {
    if (link) enter({ link }).catch(setProblem);
  }, [link]);
  return (
    <main class="sign-in">
      <h1>Longhand</h1>
      <p class="quiet">Transcripts of your calls and meetings, made on your own machines.</p>
      <Problem error={problem} />
      <Form label="Sign in" send={({ key = '' }) => enter({ key: key.trim() })}>
        <Field label="API key">
          <input name="key" type="password" required autocomplete="current-password" placeholder="lh_…" />
        </Field>
      </Form>
      {ways?.oidc && (
        <p>
          <a class="button" href="/v1/app/oidc/start">
            Sign in with {ways.oidc.name}
          </a>
        </p>
      )}
      <p class="quiet">No key? Ask the operator for a sign-in link.</p>
    </main>
  );
}
