import { useState } from 'preact/hooks';
import { Field, Options, Problem, Waiting } from '../parts/basics.tsx';
import { Chart } from '../parts/chart.tsx';
import { Figure } from '../parts/figure.tsx';
import { day, FAILURE, length, utcDay } from '../show.ts';
import { usePolled, useTitle } from '../use.ts';

interface Usage {
  /** YYYY-MM-DD, UTC. */
  day: string;
  project: string | null;
  /** Null: the recording was deleted. */
  member: string | null;
  minutes: number;
}

interface Activity {
  queue: { queued: number; processing: number; oldest_seconds: number };
  reports: { queued: number; processing: number };
  hours: { hour: string; failed: number }[];
  failures: { id: string; error_code: string; created_at: string }[];
  usage: Usage[];
  ready: { p50: number | null; p95: number | null };
  second_look: { id: string; title: string | null; confidence: number }[];
}

const POLL_MS = 10_000;
const DAYS = 30;

/** Activity of the workspace: queue, minutes, time to transcript, failures, recordings to review. */
export function Activity() {
  useTitle('Activity');
  const { value, error, again } = usePolled<Activity>('/activity', POLL_MS);
  if (error && !value) return <Problem error={error} again={again} />;
  if (!value) return <Waiting />;
  const { queue, reports, hours, failures, usage, ready, second_look } = value;
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0);
  return (
    <>
      <div class="head">
        <h1>Activity</h1>
      </div>
      <Problem error={error} />
      <dl class="figures">
        <Figure name="Waiting" value={queue.queued} />
        <Figure name="In progress" value={queue.processing} />
        <Figure name="Oldest queued" value={queue.queued ? length(queue.oldest_seconds) : '–'} />
        <Figure name="Reports queued" value={reports.queued + reports.processing} />
        <Figure name="Time to transcript, p50" value={ready.p50 === null ? '–' : length(ready.p50)} />
        <Figure name="Time to transcript, p95" value={ready.p95 === null ? '–' : length(ready.p95)} />
      </dl>
      <Minutes usage={usage} />
      <h2>Recordings to review</h2>
      {second_look.length === 0 && <p class="quiet">None: no transcript has a low confidence.</p>}
      {second_look.length > 0 && (
        <ul class="card plain lines">
          {second_look.map(({ id, title, confidence }) => (
            <li key={id}>
              <a class="grow" href={`#/t/${id}`} dir="auto">
                {title}
              </a>
              <span class="quiet figure">confidence {Math.round(confidence * 100)} %</span>
            </li>
          ))}
        </ul>
      )}
      <h2>Failures</h2>
      <p class="quiet">
        {failed ? `${failed} in the last 48 hours.` : 'No failures in the last 48 hours.'}
        {failures.length > failed && ' The latest ones:'}
      </p>
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

const EVERY = 'every';

/** Minutes of audio a day, of all projects and members or of one. */
function Minutes({ usage }: { usage: Usage[] }) {
  const [project, setProject] = useState(EVERY);
  const [member, setMember] = useState(EVERY);
  const named = (one: Usage) => [one.project ?? 'No project', one.member ?? 'Deleted recordings'] as const;
  const kept = usage.filter((one) => {
    const [inProject, by] = named(one);
    return (project === EVERY || project === inProject) && (member === EVERY || member === by);
  });
  const days = lastDays().map((date) => {
    const minutes = kept.reduce((sum, one) => (one.day === date ? sum + one.minutes : sum), 0);
    return { label: `${date}: ${Math.round(minutes * 10) / 10} minutes`, value: minutes };
  });
  const total = Math.round(days.reduce((sum, { value }) => sum + value, 0));
  const choices = (at: 0 | 1) => [...new Set(usage.map((one) => named(one)[at]))].sort().map((name) => [name, name] as const);
  const set = (choose: (name: string) => void) => (event: Event) => choose((event.currentTarget as HTMLSelectElement).value);
  return (
    <section class="card">
      <h2>Minutes of audio a day</h2>
      <div class="row">
        <Field label="Project">
          <select value={project} onChange={set(setProject)}>
            <Options of={[[EVERY, 'All projects'], ...choices(0)]} />
          </select>
        </Field>
        <Field label="Member">
          <select value={member} onChange={set(setMember)}>
            <Options of={[[EVERY, 'All members'], ...choices(1)]} />
          </select>
        </Field>
      </div>
      {kept.length === 0 && <p class="quiet">Nothing was transcribed in the last {DAYS} days.</p>}
      {kept.length > 0 && (
        <p class="quiet">
          {total} minutes in the last {DAYS} days.
        </p>
      )}
      {kept.length > 0 && (
        <Chart bars={days} summary={`${total} minutes in the last ${DAYS} days`} marks={[utcDay(lastDays()[0]!), 'today (UTC)']} />
      )}
    </section>
  );
}

/** YYYY-MM-DD, UTC, today last. */
function lastDays(): string[] {
  return Array.from({ length: DAYS }, (_, at) => new Date(Date.now() - (DAYS - 1 - at) * 86_400_000).toISOString().slice(0, 10));
}
