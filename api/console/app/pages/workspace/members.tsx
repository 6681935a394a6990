import { useState } from 'preact/hooks';
import { call } from '../../client.ts';
import { Action, Field, Form, Once, Problem } from '../../parts/basics.tsx';
import { Risky } from '../../parts/dialog.tsx';
import { RoleField, Roles } from '../../parts/role.tsx';
import type { Member } from '../../types.ts';
import { useLoaded } from '../../use.ts';
import { Invitations } from './invitations.tsx';

/** The members of the workspace, and their identities in other systems. */
export function Members({ me }: { me: string }) {
  const { value, error, again } = useLoaded<{ items: Member[] }>('/workspace/members');
  const invited = useLoaded<{ items: Member[] }>('/members/pending');
  const [link, show] = useState<string | null>(null);
  const refresh = () => {
    again();
    invited.again();
  };
  return (
    <>
      {link && <Once text={link} hint="Send this link to the member. It works once, within 24 hours." />}
      <section class="card">
        <h2>Add a member</h2>
        <Form
          label="Add member"
          send={async ({ email, name, role, pending }) => {
            await call('POST', '/members', { email, ...(name ? { name } : {}), role, pending: Boolean(pending) });
            refresh();
          }}
        >
          <Field label="E-mail">
            <input name="email" type="email" required />
          </Field>
          <Field label="Name">
            <input name="name" dir="auto" maxLength={200} />
          </Field>
          <RoleField />
          <label class="check">
            <input type="checkbox" name="pending" /> Invite only
          </label>
        </Form>
      </section>
      <Invitations changed={refresh} />
      <Problem error={error} again={refresh} />
      <ul class="card plain lines">
        {value?.items.map((member) => (
          <Active key={member.id} member={member} me={me} show={show} changed={refresh} />
        ))}
        {invited.value?.items.map((member) => (
          <li key={member.id}>
            <span class="face">{initial(member)}</span>
            <div class="grow">
              <b dir="auto">{member.name ?? member.email}</b> <span class="chip">invited</span>
              <div class="quiet">{member.email}</div>
            </div>
            <Action kind="small" run={() => call('PATCH', `/members/${member.id}`, { status: 'active' }).then(refresh)}>
              Activate
            </Action>
          </li>
        ))}
      </ul>
    </>
  );
}

const initial = ({ name, email }: Member) => (name ?? email).slice(0, 1).toUpperCase();

interface ActiveProps {
  member: Member;
  me: string;
  show: (link: string) => void;
  changed: () => void;
}

function Active({ member, me, show, changed }: ActiveProps) {
  const [error, setError] = useState<Error | null>(null);
  const put = (role: string) =>
    call('PATCH', `/members/${member.id}`, { role })
      .then(() => setError(null), setError)
      .then(changed);
  return (
    <li>
      <span class="face">{initial(member)}</span>
      <div class="grow">
        <b dir="auto">{member.name ?? member.email}</b> {member.id === me && <span class="chip">you</span>}
        <div class="quiet">{member.email}</div>
      </div>
      <select
        aria-label={`Role of ${member.email}`}
        value={member.role}
        onChange={(event) => put((event.currentTarget as HTMLSelectElement).value)}
      >
        <Roles />
      </select>
      <Action kind="small" run={async () => show((await call<{ url: string }>('POST', `/members/${member.id}/link`)).url)}>
        Sign-in link
      </Action>
      {member.id !== me && (
        <Risky
          label="Remove"
          title={`Remove ${member.name ?? member.email}?`}
          run={() => call('DELETE', `/members/${member.id}`).then(changed)}
        >
          Their keys, sessions and assistants lose access. Their transcripts and corrections stay.
        </Risky>
      )}
      <Problem error={error} />
      <div class="full">
        <Identities member={member} changed={changed} />
      </div>
    </li>
  );
}

function Identities({ member, changed }: { member: Member; changed: () => void }) {
  const path = `/workspace/members/${member.id}/identities`;
  return (
    <details>
      <summary class="quiet">Identities in other systems ({member.identities.length})</summary>
      <ul class="plain">
        {member.identities.map(({ provider, external_id }) => (
          <li class="row middle" key={`${provider}:${external_id}`}>
            <code>
              {provider}:{external_id}
            </code>
            <Action
              kind="small"
              run={() => call('DELETE', `${path}/${encodeURIComponent(provider)}/${encodeURIComponent(external_id)}`).then(changed)}
            >
              Unlink
            </Action>
          </li>
        ))}
      </ul>
      <Form label="Link" send={({ provider, external_id }) => call('PUT', path, { provider, external_id }).then(changed)}>
        <Field label="Provider">
          <input name="provider" dir="auto" required maxLength={32} placeholder="bitrix" />
        </Field>
        <Field label="External ID">
          <input name="external_id" dir="auto" required maxLength={128} />
        </Field>
      </Form>
    </details>
  );
}
