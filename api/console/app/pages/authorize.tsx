import { call } from '../client.ts';
import { Action, Problem, Waiting } from '../parts/basics.tsx';
import { useLoaded, useTitle } from '../use.ts';

const MEANING: Record<string, string> = {
  read: 'read transcripts and reports that you may see',
  'reports:write': 'request reports',
  'uploads:write': 'upload recordings and change authors',
  'transcriptions:delete': 'delete transcriptions',
};

/** Asks for consent to an assistant's access on the person's behalf. */
export function Authorize() {
  useTitle('Allow access');
  const query = location.search.slice(1);
  const { value, error } = useLoaded<{ client: { name: string }; redirect_host: string; scopes: string[]; workspace: string }>(
    `/consent?${query}`,
  );
  if (error) return <Problem error={error} />;
  if (!value) return <Waiting />;
  const answer = (approve: boolean) => async () => {
    const { redirect } = await call<{ redirect: string }>('POST', '/consent', { query, approve });
    location.assign(redirect);
  };
  return (
    <section class="card narrow">
      <h1>Allow {value.client.name}?</h1>
      <p>
        It requests access to <b>{value.workspace}</b> on your behalf, and then returns you to <b>{value.redirect_host}</b>. It will be able
        to:
      </p>
      <ul>
        {value.scopes.map((scope) => (
          <li key={scope}>{MEANING[scope] ?? scope}</li>
        ))}
      </ul>
      <p class="row">
        <Action kind="main" run={answer(true)}>
          Allow
        </Action>
        <Action run={answer(false)}>Refuse</Action>
      </p>
    </section>
  );
}
