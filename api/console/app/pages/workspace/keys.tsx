import { useState } from 'preact/hooks';
import { call } from '../../client.ts';
import { Action, Field, Form, Once, Problem } from '../../parts/basics.tsx';
import { day } from '../../show.ts';
import { useLoaded } from '../../use.ts';

interface Key {
  id: string;
  name: string | null;
  hint: string;
  scopes: string[];
  expires_at: string | null;
  revoked_at: string | null;
  created_at: string;
  last_used_at: string | null;
  member: { id: string; email: string };
}

const SCOPES: [string, string][] = [
  ['uploads:write', 'upload files'],
  ['reports:write', 'AI reports'],
  ['transcriptions:delete', 'delete transcriptions'],
  ['members:write', 'manage members'],
];

/** Keys for other programs: made with their permissions, shown once, revoked for good. */
export function Keys({ owner }: { owner: boolean }) {
  const { value, error, again } = useLoaded<{ items: Key[] }>('/keys');
  const [fresh, show] = useState<string | null>(null);
  return (
    <>
      {fresh && <Once text={fresh} hint="This is the new key. It is shown only now: copy it." />}
      <Form
        label="Create key"
        send={async ({ name, expires_at, ...given }) => {
          const scopes = ['read', ...SCOPES.map(([scope]) => scope).filter((scope) => given[scope])];
          const made = await call<{ key: string }>('POST', '/keys', {
            name: name || null,
            scopes,
            expires_at: expires_at ? new Date(expires_at).toISOString() : null,
          });
          show(made.key);
          again();
        }}
      >
        <Field label="Name">
          <input name="name" maxLength={100} placeholder="CRM" />
        </Field>
        <fieldset class="row">
          <legend>May read, and</legend>
          {SCOPES.filter(([scope]) => owner || scope !== 'members:write').map(([scope, label]) => (
            <label class="check" key={scope}>
              <input type="checkbox" name={scope} /> {label}
            </label>
          ))}
        </fieldset>
        <Field label="Expires">
          <input name="expires_at" type="date" />
        </Field>
      </Form>
      <Problem error={error} />
      <ul class="plain">
        {value?.items.map((key) => (
          <li class="card row" key={key.id}>
            <div>
              <b>{key.name ?? 'Key'}</b> …{key.hint} <span class="quiet">of {key.member.email}</span>
              <div class="quiet">
                {key.scopes.join(', ')} · made {day(key.created_at)}
                {key.expires_at ? ` · until ${day(key.expires_at)}` : ''} ·{' '}
                {key.last_used_at ? `last used ${day(key.last_used_at)}` : 'never used'}
              </div>
            </div>
            {key.revoked_at ? (
              <span class="quiet">revoked</span>
            ) : (
              <Action kind="small danger" run={() => call('DELETE', `/keys/${key.id}`).then(again)}>
                Revoke
              </Action>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
