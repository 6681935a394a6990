import { useState } from 'preact/hooks';
import { call } from '../../client.ts';
import { Field, Form, Once, Problem } from '../../parts/basics.tsx';
import { Risky } from '../../parts/dialog.tsx';
import { day, endOfDay } from '../../show.ts';
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
  ['webhooks:write', 'manage webhooks'],
];

/** API keys for programs: created with permissions, shown once, revoked permanently. */
export function Keys({ owner }: { owner: boolean }) {
  const { value, error, again } = useLoaded<{ items: Key[] }>('/keys');
  const [fresh, show] = useState<string | null>(null);
  return (
    <>
      {fresh && <Once text={fresh} hint="This is the new key. It is shown only once: copy it now." />}
      <section class="card">
        <h2>New key</h2>
        <Form
          label="Create key"
          send={async ({ name, expires_at, ...given }) => {
            const scopes = ['read', ...SCOPES.map(([scope]) => scope).filter((scope) => given[scope])];
            const made = await call<{ key: string }>('POST', '/keys', {
              name: name || null,
              scopes,
              expires_at: expires_at ? endOfDay(expires_at).toISOString() : null,
            });
            show(made.key);
            again();
          }}
        >
          <Field label="Name">
            <input name="name" dir="auto" maxLength={100} placeholder="CRM" />
          </Field>
          <Field label="Expires at the end of (leave empty for never)">
            <input name="expires_at" type="date" />
          </Field>
          <fieldset class="row">
            <legend>Permissions (read is always included)</legend>
            {SCOPES.filter(([scope]) => owner || !['members:write', 'webhooks:write'].includes(scope)).map(([scope, label]) => (
              <label class="check" key={scope}>
                <input type="checkbox" name={scope} /> {label}
              </label>
            ))}
          </fieldset>
        </Form>
      </section>
      <Problem error={error} again={again} />
      <ul class="card plain lines">
        {value?.items.map((key) => (
          <One key={key.id} of={key} changed={again} />
        ))}
      </ul>
    </>
  );
}

function One({ of: key, changed }: { of: Key; changed: () => void }) {
  const over = key.expires_at !== null && Date.parse(key.expires_at) < Date.now();
  return (
    <li>
      <div class="grow">
        <b dir="auto">{key.name ?? 'Key'}</b> <code class="quiet">lh_…{key.hint}</code>
        <div class="quiet">
          {key.member.email} · {key.last_used_at ? `last used ${day(key.last_used_at)}` : 'never used'} · created {day(key.created_at)}
          {key.expires_at && !over ? ` · until ${day(key.expires_at)}` : ''}
        </div>
        <div class="ids row">
          {key.scopes.map((scope) => (
            <span class="chip" key={scope}>
              {scope}
            </span>
          ))}
        </div>
      </div>
      {key.revoked_at || over ? (
        <span class="chip bad">{key.revoked_at ? 'revoked' : 'expired'}</span>
      ) : (
        <Risky label="Revoke" title={`Revoke ${key.name ?? 'this key'}?`} run={() => call('DELETE', `/keys/${key.id}`).then(changed)}>
          Programs that use it are refused from now on, and sessions that it opened end. This cannot be undone.
        </Risky>
      )}
    </li>
  );
}
