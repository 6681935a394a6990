import { call } from '../client.ts';
import { day } from '../show.ts';
import { useLoaded } from '../use.ts';
import { Problem } from './basics.tsx';
import { Risky } from './dialog.tsx';

interface Client {
  id: string;
  name: string;
  redirect_uris: string[];
  last_used_at: string;
}

/** OAuth clients that registered themselves: their names are untrusted. Removing one ends its grants in every workspace. */
export function Clients() {
  const { value, error, again } = useLoaded<{ items: Client[] }>('/clients');
  return (
    <>
      <h2>OAuth clients</h2>
      <Problem error={error} again={again} />
      {value?.items.length === 0 && <p class="quiet">None has registered.</p>}
      {value && value.items.length > 0 && (
        <ul class="card plain lines">
          {value.items.map((client) => (
            <li key={client.id}>
              <div class="grow">
                <b dir="auto">{client.name}</b>
                <div class="quiet">
                  {client.redirect_uris.join(', ')} · last used {day(client.last_used_at)}
                </div>
              </div>
              <Risky label="Remove" title={`Remove ${client.name}?`} run={() => call('DELETE', `/clients/${client.id}`).then(again)}>
                Its access ends in every workspace. It can register again.
              </Risky>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
