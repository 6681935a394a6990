import { call } from '../../client.ts';
import { Action, Problem, Waiting } from '../../parts/basics.tsx';
import { day } from '../../show.ts';
import { useLoaded } from '../../use.ts';

interface Session {
  id: string;
  member: { email: string };
  key: { hint: string } | null;
  created_at: string;
  expires_at: string;
  current: boolean;
}

interface Grant {
  id: string;
  client: { name: string } | null;
  member: { email: string };
  scopes: string[];
  created_at: string;
  expires_at: string;
}

/** Open sessions and assistants with access: one's own, for owners those of the workspace. Each can be ended. */
export function Access({ owner }: { owner: boolean }) {
  const sessions = useLoaded<{ items: Session[] }>('/sessions');
  const grants = useLoaded<{ items: Grant[] }>('/grants');
  const error = sessions.error ?? grants.error;
  if (error) return <Problem error={error} />;
  if (!sessions.value || !grants.value) return <Waiting />;
  return (
    <>
      <p class="quiet">{owner ? 'Those of every member of the workspace.' : 'Those in your name.'}</p>
      <h2>Sessions</h2>
      <ul class="card plain lines">
        {sessions.value.items.map(({ id, member, key, created_at, expires_at, current }) => (
          <li key={id}>
            <div class="grow">
              <b>{member.email}</b> {current && <span class="chip">this session</span>}
              <div class="quiet">
                {key ? `opened with the key lh_…${key.hint}` : 'signed in'} · {day(created_at)} · until {day(expires_at)}
              </div>
            </div>
            {!current && (
              <Action kind="small danger" run={() => call('DELETE', `/sessions/${id}`).then(sessions.again)}>
                End
              </Action>
            )}
          </li>
        ))}
      </ul>
      <h2>Assistants with access</h2>
      {grants.value.items.length === 0 && <p class="quiet">None. An assistant that connects through MCP asks for access first.</p>}
      {grants.value.items.length > 0 && (
        <ul class="card plain lines">
          {grants.value.items.map(({ id, client, member, scopes, created_at, expires_at }) => (
            <li key={id}>
              <div class="grow">
                <b dir="auto">{client?.name ?? 'Token of the operator'}</b>
                <div class="quiet">
                  in the name of {member.email} · {day(created_at)} · until {day(expires_at)}
                </div>
                <div class="ids row">
                  {scopes.map((scope) => (
                    <span class="chip" key={scope}>
                      {scope}
                    </span>
                  ))}
                </div>
              </div>
              <Action kind="small danger" run={() => call('DELETE', `/grants/${id}`).then(grants.again)}>
                Revoke
              </Action>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
