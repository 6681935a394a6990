import { useState } from 'preact/hooks';
import { Field, Options, Problem, Waiting } from '../../parts/basics.tsx';
import { useLoaded } from '../../use.ts';

interface Line {
  name: string;
  recordings: number;
  minutes: number;
}

const BY = [
  ['day', 'Day'],
  ['key', 'API key'],
  ['project', 'Project'],
] as const;
const MONTH = 30 * 86_400_000;
const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Minutes charged to the workspace, by day, key or project. */
export function Usage() {
  const [by, setBy] = useState('day');
  const [from, setFrom] = useState(dateOf(Date.now() - MONTH));
  const [to, setTo] = useState(dateOf(Date.now()));
  const { value, error, again } = useLoaded<{ items: Line[] }>(`/usage?${new URLSearchParams({ by, from, to })}`);
  const set = (change: (text: string) => void) => (event: Event) => change((event.currentTarget as HTMLInputElement).value);
  const sum = (name: 'recordings' | 'minutes') => (value?.items ?? []).reduce((total, line) => total + line[name], 0);
  const label = BY.find(([name]) => name === by)![1];
  return (
    <section class="card">
      <div class="row">
        <Field label="By">
          <select value={by} onChange={set(setBy)}>
            <Options of={BY} />
          </select>
        </Field>
        <Field label="From (UTC)">
          <input type="date" required value={from} onChange={set((text) => text && setFrom(text))} />
        </Field>
        <Field label="To (included, UTC)">
          <input type="date" required value={to} onChange={set((text) => text && setTo(text))} />
        </Field>
      </div>
      <Problem error={error} again={again} />
      {!value && !error && <Waiting />}
      {value?.items.length === 0 && <p class="quiet">Nothing was charged in this time.</p>}
      {value && value.items.length > 0 && (
        <table class="sums">
          <thead>
            <tr>
              <th>{label}</th>
              <th class="figure">Recordings</th>
              <th class="figure">Minutes</th>
            </tr>
          </thead>
          <tbody>
            {value.items.map(({ name, recordings, minutes }) => (
              <tr key={name}>
                <td dir="auto">{name}</td>
                <td class="figure">{recordings.toLocaleString()}</td>
                <td class="figure">{minutes.toLocaleString()}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th>Total</th>
              <td class="figure">{sum('recordings').toLocaleString()}</td>
              <td class="figure">{(Math.round(sum('minutes') * 100) / 100).toLocaleString()}</td>
            </tr>
          </tfoot>
        </table>
      )}
    </section>
  );
}
