import { Problem, Waiting } from '../../parts/basics.tsx';
import { day } from '../../show.ts';
import { useLoaded } from '../../use.ts';

interface Entry {
  at: string;
  actor_kind: string;
  member: string | null;
  action: string;
  target_id: string | null;
}

const BY: Record<string, string> = { key: 'with an API key', token: 'through an assistant', session: 'in the console' };

/** The audit log, newest first: ids, no content. */
export function AuditLog() {
  const { value, error, again } = useLoaded<{ items: Entry[] }>('/audit');
  if (error) return <Problem error={error} again={again} />;
  if (!value) return <Waiting />;
  if (!value.items.length) return <p class="quiet">Nothing has been recorded yet.</p>;
  return (
    <>
      <p class="quiet">The latest {value.items.length} entries. They contain ids, never content.</p>
      <ul class="card plain lines">
        {value.items.map(({ at, actor_kind, member, action, target_id }, index) => (
          <li key={index}>
            <div class="grow">
              <b>{action.replace('.', ': ')}</b> {target_id && <code class="quiet">{target_id}</code>}
              <div class="quiet">
                {actor_kind === 'operator' ? 'the operator' : `${member ?? 'a former member'} ${BY[actor_kind] ?? ''}`}
              </div>
            </div>
            <time class="quiet">{day(at)}</time>
          </li>
        ))}
      </ul>
    </>
  );
}
