import { useState } from 'preact/hooks';
import { call } from '../../client.ts';
import { Action, Form, Once, Problem } from '../../parts/basics.tsx';
import { Risky } from '../../parts/dialog.tsx';
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
  next_at: string;
  last_status: number | null;
  last_error: string | null;
  created_at: string;
  transcription_id: string;
}

/** URLs that are notified when a transcription or report ends. */
export function Webhooks() {
  const { value, error, again } = useLoaded<{ items: Hook[] }>('/webhooks');
  const [secret, show] = useState<string | null>(null);
  return (
    <>
      {secret && <Once text={secret} hint="The signing secret for deliveries. It is shown only once: copy it now." />}
      <section class="card">
        <h2>New webhook</h2>
        <Form
          label="Add webhook"
          send={async ({ url }) => {
            show((await call<{ secret: string }>('POST', '/webhooks', { url })).secret);
            again();
          }}
        >
          <label class="field grow">
            <span>Endpoint URL, called when a transcription or report ends</span>
            <input name="url" type="url" required placeholder="https://crm.example/longhand" />
          </label>
        </Form>
      </section>
      <Problem error={error} again={again} />
      {value?.items.map((hook) => (
        <article class="card" key={hook.id}>
          <div class="row middle">
            <code class="grow">{hook.url}</code>
            {!hook.active && <span class="chip">paused; deliveries are queued</span>}
            <Action kind="small" run={() => call('PATCH', `/webhooks/${hook.id}`, { active: !hook.active }).then(again)}>
              {hook.active ? 'Pause' : 'Resume'}
            </Action>
            <Risky label="Delete" title="Delete this webhook?" run={() => call('DELETE', `/webhooks/${hook.id}`).then(again)}>
              Pending deliveries to {hook.url} are lost. This cannot be undone.
            </Risky>
          </div>
          <Deliveries hook={hook.id} />
        </article>
      ))}
    </>
  );
}

function Deliveries({ hook }: { hook: string }) {
  const [open, show] = useState(false);
  const { value, error, again } = useLoaded<{ items: Delivery[] }>(open ? `/webhooks/${hook}/deliveries` : null);
  return (
    <details onToggle={(event) => show((event.currentTarget as HTMLDetailsElement).open)}>
      <summary class="quiet">Deliveries</summary>
      <Problem error={error} again={again} />
      {value && (
        <p class="row middle">
          {value.items.length === 0 && <span class="quiet">None yet.</span>}
          <button type="button" class="small" onClick={again}>
            Refresh
          </button>
        </p>
      )}
      <ul class="plain">
        {value?.items.map((delivery) => (
          <li class="row middle" key={delivery.id}>
            <span class={`chip ${STATE[delivery.status] ?? ''}`}>{delivery.status}</span>
            <a href={`#/t/${delivery.transcription_id}`}>{delivery.event}</a>
            <span class="quiet grow">
              {day(delivery.created_at)}
              {delivery.attempt > 0 && ` · attempt ${delivery.attempt}: ${delivery.last_status ?? delivery.last_error ?? 'under way'}`}
              {delivery.status === 'pending' && ` · next ${day(delivery.next_at)}`}
            </span>
            <Action kind="small" run={() => call('POST', `/deliveries/${delivery.id}/replay`).then(again)}>
              Send again
            </Action>
          </li>
        ))}
      </ul>
    </details>
  );
}

const STATE: Record<string, string> = { delivered: 'good', dead: 'bad' };
