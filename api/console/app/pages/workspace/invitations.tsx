import { useState } from 'preact/hooks';
import { call } from '../../client.ts';
import { Action, Field, Form, Once, Problem } from '../../parts/basics.tsx';
import { RoleField } from '../../parts/role.tsx';
import { day } from '../../show.ts';
import { useLoaded } from '../../use.ts';

interface Invitation {
  id: string;
  email: string;
  role: string;
  expires_at: string;
  invited_by: { email: string } | null;
}

/** Invitations by link, sent by e-mail too where a mail server is configured; whoever accepts becomes a member. */
export function Invitations({ changed }: { changed: () => void }) {
  const { value, error, again } = useLoaded<{ items: Invitation[] }>('/invitations');
  const [made, show] = useState<{ url: string; sent: boolean } | null>(null);
  const refresh = () => {
    again();
    changed();
  };
  return (
    <section class="card">
      <h2>Invitations</h2>
      {made && <Once text={made.url} hint={made.sent ? 'Sent by e-mail. The link:' : 'Pass this link on. It works once, within 7 days.'} />}
      <Form
        label="Invite"
        send={async ({ email, role }) => {
          show(await call<{ url: string; sent: boolean }>('POST', '/invitations', { email, role }));
          refresh();
        }}
      >
        <Field label="E-mail">
          <input name="email" type="email" required />
        </Field>
        <RoleField />
      </Form>
      <Problem error={error} again={again} />
      <ul class="plain lines">
        {value?.items.map(({ id, email, role, expires_at, invited_by }) => (
          <li key={id}>
            <div class="grow">
              <b>{email}</b> <span class="chip">{role}</span>
              <div class="quiet">
                {invited_by ? `by ${invited_by.email} · ` : ''}until {day(expires_at)}
              </div>
            </div>
            <Action kind="small danger" run={() => call('DELETE', `/invitations/${id}`).then(refresh)}>
              Withdraw
            </Action>
          </li>
        ))}
      </ul>
    </section>
  );
}
