import { useState } from 'preact/hooks';
import { call } from '../../client.ts';
import { Action, Field, Form, Once, Problem } from '../../parts/basics.tsx';
import { day } from '../../show.ts';
import { useLoaded } from '../../use.ts';

interface Hook {
  id: string;
  url: string;
  active: boolean;
}

interface Delivery {
  id: string;
  event: string;
  status: string;
  attempt: number;
  last_status: number | null;
  last_error: string | null;
  created_at: string;
  transcription_id: string;
}

/** Addresses that are told when a transcription or report ends. */
export function Webhooks() {
  const { value, error, again } = useLoaded<{ items: Hook[] }>('/webhooks');
  const [secret, show] = useState<string | null>(null);
  return (
    <>
      {secret && <Once text={secret} hint="The secret that signs every delivery. It is shown only now: copy it." />}
      <Form
        label="Add webhook"
        send={async ({ url }) => {
          show((await call<{ secret: string }>('POST', '/webhooks', { url })).secret);
          again();
        }}
      >
        <Field label="Address">
          <input name="url" type="url" required size={40} placeholder="https://crm.example/longhand" />
        </Field>
      </Form>
      <Problem error={error} />
      {value?.items.map((hook) => (
        <article class="card" key={hook.id}>
          <div class="row">
            <code>{hook.url}</code>
            <Action kind="small" run={() => call('PATCH', `/webhooks/${hook.id}`, { active: !hook.active }).then(again)}>
              {hook.active ? 'Pause' : 'Resume'}
            </Action>
            <Action kind="small danger" run={() => call('DELETE', `/webhooks/${hook.id}`).then(again)}>
              Delete
            </Action>
          </div>
          <details>
            <summary>Deliveries</summary>
            <Deliveries hook={hook.id} />
          </details>
        </article>
      ))}
    </>
  );
}

function Deliveries({ hook }: { hook: string }) {
  const { value, error, again } = useLoaded<{ items: Delivery[] }>(`/webhooks/${hook}/deliveries`);
  return (
    <>
      <Problem error={error} />
      {value && value.items.length === 0 && <p class="quiet">None yet.</p>}
      <ul class="plain">
        {value?.items.map((delivery) => (
          <li class="row" key={delivery.id}>
            <a href={`#/t/${delivery.transcription_id}`}>{delivery.event}</a>
            <span class="quiet">{day(delivery.created_at)}</span>
            <span class={delivery.status === 'delivered' ? 'good' : delivery.status === 'dead' ? 'bad' : ''}>
              {delivery.status}, attempt {delivery.attempt} {delivery.last_status ?? delivery.last_error ?? ''}
            </span>
            <Action kind="small" run={() => call('POST', `/deliveries/${delivery.id}/replay`).then(again)}>
              Send again
            </Action>
          </li>
        ))}
      </ul>
    </>
  );
}
