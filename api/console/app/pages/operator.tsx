import { useEffect } from 'preact/hooks';
import { Problem, Waiting } from '../parts/basics.tsx';
import { day, FAILURE } from '../show.ts';
import { useLoaded } from '../use.ts';

interface Overview {
  queue: { queued: number; processing: number; oldest_seconds: number };
  reports: { queued: number; processing: number };
  engines: { id: string; host: string; device: string; model: string; concurrency: number; last_seen: string; alive: boolean }[];
  throughput: { hour: string; minutes: number; files: number }[];
  failures: { id: string; error_code: string; created_at: string }[];
}

/** How the service is doing: queue, engines, throughput, failures. */
export function Operator() {
  const { value, error, again } = useLoaded<Overview>('/operator');
  useEffect(() => {
    const timer = setInterval(again, 5_000);
    return () => clearInterval(timer);
  }, [again]);
  if (error && !value) return <Problem error={error} />;
  if (!value) return <Waiting />;
  const alive = value.engines.filter((engine) => engine.alive);
  return (
    <>
      <h1>Operation</h1>
      <dl class="facts">
        <Figure name="Waiting" value={value.queue.queued} />
        <Figure name="In progress" value={value.queue.processing} />
        <Figure name="Oldest waits, seconds" value={value.queue.oldest_seconds} />
        <Figure name="Reports waiting" value={value.reports.queued} />
        <Figure name="Engines at work" value={alive.length} />
      </dl>
      {alive.length === 0 && <p class="problem">No engine is connected: uploads are accepted and wait.</p>}
      <h2>Minutes of audio transcribed, by hour</h2>
      <Bars
        values={value.throughput.map(({ hour, minutes, files }) => ({
          label: `${day(hour)}: ${minutes} minutes in ${files} files`,
          value: minutes,
        }))}
      />
      <h2>Engines</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Host</th>
              <th scope="col">Device</th>
              <th scope="col">Model</th>
              <th scope="col">At once</th>
              <th scope="col">Last seen</th>
            </tr>
          </thead>
          <tbody>
            {value.engines.map((engine) => (
              <tr key={engine.id}>
                <td>{engine.host}</td>
                <td>{engine.device}</td>
                <td>{engine.model}</td>
                <td>{engine.concurrency}</td>
                <td class={engine.alive ? 'good' : 'bad'}>{day(engine.last_seen)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h2>Last failures</h2>
      {value.failures.length === 0 && <p class="quiet">None.</p>}
      <ul class="plain">
        {value.failures.map((failure) => (
          <li key={failure.id}>
            <a href={`#/t/${failure.id}`}>{day(failure.created_at)}</a> {FAILURE[failure.error_code] ?? failure.error_code}
          </li>
        ))}
      </ul>
    </>
  );
}

function Figure({ name, value }: { name: string; value: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="big">{value}</dd>
    </div>
  );
}

/** A bar chart whose bars can be read out. */
function Bars({ values }: { values: { label: string; value: number }[] }) {
  if (!values.length) return <p class="quiet">Nothing in the last two days.</p>;
  const most = Math.max(...values.map(({ value }) => value), 1);
  const width = 100 / values.length;
  return (
    <svg class="bars" viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label={values.map(({ label }) => label).join('; ')}>
      {values.map(({ label, value }, i) => (
        <rect key={label} x={i * width} y={30 - (28 * value) / most} width={Math.max(0.3, width - 0.4)} height={(28 * value) / most}>
          <title>{label}</title>
        </rect>
      ))}
    </svg>
  );
}
