import { useEffect } from 'preact/hooks';
import { Problem, Waiting } from '../parts/basics.tsx';
import { Chart } from '../parts/chart.tsx';
import { day, FAILURE, length, when } from '../show.ts';
import { useLoaded } from '../use.ts';

interface Hour {
  hour: string;
  arrived: number;
  minutes: number;
  completed: number;
  failed: number;
}

interface Overview {
  queue: { queued: number; processing: number; oldest_seconds: number };
  reports: { queued: number; processing: number };
  /** Null for workspace owners who do not operate the installation. */
  engines: { id: string; host: string; device: string; model: string; concurrency: number; last_seen: string; alive: boolean }[] | null;
  workspaces: { id: string; name: string; queued: number; processing: number; oldest_seconds: number | null }[] | null;
  hours: Hour[];
  failures: { id: string; error_code: string; created_at: string }[];
}

const POLL_MS = 5_000;

/** Activity: queue, engines, the last two days, failures. */
export function Operator() {
  const { value, error, again } = useLoaded<Overview>('/operator');
  useEffect(() => {
    const timer = setInterval(again, POLL_MS);
    return () => clearInterval(timer);
  }, [again]);
  if (error && !value) return <Problem error={error} again={again} />;
  if (!value) return <Waiting />;
  const { queue, reports, engines, workspaces, hours, failures } = value;
  const alive = engines?.filter((engine) => engine.alive).length;
  const sum = (name: 'minutes' | 'failed' | 'arrived') => hours.reduce((total, hour) => total + hour[name], 0);
  return (
    <>
      <div class="head">
        <h1>Operation</h1>
      </div>
      <Problem error={error} />
      {alive === 0 && <p class="problem">No engine is connected: uploads are accepted and queued.</p>}
      <dl class="figures">
        <Figure name="Waiting" value={queue.queued} />
        <Figure name="In progress" value={queue.processing} />
        <Figure name="Oldest queued" value={queue.queued ? length(queue.oldest_seconds) : '–'} />
        <Figure name="Reports queued" value={reports.queued + reports.processing} />
        {alive !== undefined && <Figure name="Engines online" value={alive} />}
      </dl>
      <section class="card">
        <h2>Minutes of audio transcribed per hour</h2>
        <Hours
          hours={hours}
          say={({ minutes, completed }) => [minutes, `${minutes} minutes in ${completed} files`]}
          summary={`${Math.round(sum('minutes'))} minutes in the last 48 hours`}
        />
      </section>
      <div class="grid">
        <section class="card">
          <h2>Queued or in progress at the end of each hour</h2>
          <Hours
            hours={queueOver(hours, queue.queued + queue.processing)}
            say={({ arrived }) => [arrived, `${arrived} files`]}
            summary={`${queue.queued + queue.processing} files now, ${sum('arrived')} uploaded in the last 48 hours`}
          />
        </section>
        <section class="card">
          <h2>Failures per hour</h2>
          <Hours
            hours={hours}
            kind="failed"
            say={({ failed }) => [failed, `${failed} failed`]}
            summary={`${sum('failed')} failures in the last 48 hours`}
          />
        </section>
      </div>
      {engines && <h2>Engines</h2>}
      {engines && <Engines engines={engines} />}
      {workspaces && <h2>Load by workspace</h2>}
      {workspaces?.length === 0 && <p class="quiet">Nothing is queued.</p>}
      {workspaces && workspaces.length > 0 && (
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
      <h2>Recent failures</h2>
      {failures.length === 0 && <p class="quiet">None.</p>}
      {failures.length > 0 && (
        <ul class="card plain lines">
          {failures.map((failure) => (
            <li key={failure.id}>
              <a href={`#/t/${failure.id}`}>{day(failure.created_at)}</a>
              <span class="grow">{FAILURE[failure.error_code] ?? failure.error_code}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Number of files in the queue at the end of each hour, computed backwards from the current one. */
function queueOver(hours: Hour[], now: number): Hour[] {
  let waiting = now;
  return hours
    .toReversed()
    .map((hour) => {
      const then = Math.max(0, waiting);
      waiting += hour.completed + hour.failed - hour.arrived;
      return { ...hour, arrived: then };
    })
    .reverse();
}

interface HoursProps {
  hours: Hour[];
  say: (hour: Hour) => [number, string];
  summary: string;
  kind?: string;
}

function Hours({ hours, say, summary, kind }: HoursProps) {
  const bars = hours.map((hour) => {
    const [value, words] = say(hour);
    return { value, label: `${day(hour.hour)}: ${words}` };
  });
  const quarters = hours.filter((_, at) => at % 12 === 0).map(({ hour }) => dayAndHour(hour));
  return <Chart bars={bars} summary={summary} marks={[...quarters, 'now']} kind={kind} />;
}

const dayAndHour = (stamp: string) => new Date(stamp).toLocaleString(undefined, { day: 'numeric', month: 'short', hour: 'numeric' });

function Engines({ engines }: { engines: NonNullable<Overview['engines']> }) {
  if (!engines.length) return <p class="quiet">None in the last day. Start one with `longhand engine`.</p>;
  return (
    <ul class="card plain lines">
      {engines.map((engine) => (
        <li key={engine.id}>
          <span class={`chip ${engine.alive ? 'good' : 'bad'}`}>{engine.alive ? 'Online' : 'Offline'}</span>
          <b class="grow">{engine.host}</b>
          <span class="quiet">
            {engine.model} on {engine.device}, {engine.concurrency} slots · last seen {when(engine.last_seen)}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Figure({ name, value }: { name: string; value: number | string }) {
  return (
    <div class="card">
      <dt class="quiet">{name}</dt>
      <dd class="big">{value}</dd>
    </div>
  );
}
