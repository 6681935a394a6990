import { Problem, Waiting } from '../parts/basics.tsx';
import { Clients } from '../parts/clients.tsx';
import { Figure } from '../parts/figure.tsx';
import { length, when } from '../show.ts';
import { usePolled, useTitle } from '../use.ts';

interface Engine {
  id: string;
  host: string;
  version: string;
  device: string;
  model: string;
  concurrency: number;
  working: number;
  last_seen: string;
  alive: boolean;
}

interface Load {
  engines: Engine[];
  workspaces: { id: string; name: string; queued: number; processing: number; oldest_seconds: number | null }[];
  queue: { queued: number; processing: number; oldest_seconds: number };
  /** Null: nothing was transcribed yet. */
  rtfx: number | null;
}

const POLL_MS = 5_000;

/** The installation, for its operator: engines with models and versions, RTFx, queue, utilisation, load by workspace. */
export function Installation() {
  useTitle('Installation');
  const { value, error, again } = usePolled<Load>('/installation', POLL_MS);
  if (error && !value) return <Problem error={error} again={again} />;
  if (!value) return <Waiting />;
  const { engines, workspaces, queue, rtfx } = value;
  const alive = engines.filter((engine) => engine.alive);
  const sum = (name: 'concurrency' | 'working') => alive.reduce((total, engine) => total + engine[name], 0);
  return (
    <>
      <div class="head">
        <h1>Installation</h1>
      </div>
      <Problem error={error} />
      {alive.length === 0 && <p class="problem">No engine is connected: uploads are accepted and queued.</p>}
      <dl class="figures">
        <Figure name="Engines online" value={alive.length} />
        <Figure
          name="Slots in use"
          value={alive.length ? `${Math.round((100 * sum('working')) / Math.max(1, sum('concurrency')))} %` : '–'}
        />
        <Figure name="RTFx" value={rtfx === null ? '–' : rtfx.toFixed(1)} />
        <Figure name="Waiting" value={queue.queued} />
        <Figure name="Oldest queued" value={queue.queued ? length(queue.oldest_seconds) : '–'} />
        <Figure name="In progress" value={queue.processing} />
      </dl>
      <h2>Engines</h2>
      {engines.length === 0 && <p class="quiet">None in the last day. Start one with `longhand engine`.</p>}
      {engines.length > 0 && (
        <ul class="card plain lines">
          {engines.map((engine) => (
            <li key={engine.id}>
              <span class={`chip ${engine.alive ? 'good' : 'bad'}`}>{engine.alive ? 'Online' : 'Offline'}</span>
              <b class="grow">{engine.host}</b>
              <span class="quiet">
                {engine.model} on {engine.device}, {engine.working} of {engine.concurrency} slots in use · version {engine.version} · last
                seen {when(engine.last_seen)}
              </span>
            </li>
          ))}
        </ul>
      )}
      <h2>Load by workspace</h2>
      {workspaces.length === 0 && <p class="quiet">Nothing is queued.</p>}
      {workspaces.length > 0 && (
        <ul class="card plain lines">
          {workspaces.map(({ id, name, queued, processing, oldest_seconds }) => (
            <li key={id}>
              <b class="grow">{name}</b>
              <span class="quiet">
                {queued} waiting{oldest_seconds ? `, oldest queued for ${length(oldest_seconds)}` : ''} · {processing} in progress
              </span>
            </li>
          ))}
        </ul>
      )}
      <Clients />
    </>
  );
}
