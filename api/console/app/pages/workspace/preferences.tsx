import { useState } from 'preact/hooks';
import { call } from '../../client.ts';
import { Form, Problem, Waiting } from '../../parts/basics.tsx';
import { useLoaded } from '../../use.ts';

/** Names and terms that the recogniser should know, and how long transcripts are kept. */
export function Preferences() {
  const { value, error, again } = useLoaded<{ vocabulary: string; retention_days: number | null }>('/settings');
  const [saved, tell] = useState(false);
  if (error) return <Problem error={error} again={again} />;
  if (!value) return <Waiting />;
  return (
    <Form
      key={JSON.stringify(value)}
      kind="card row"
      label="Save"
      send={async ({ vocabulary, retention_days }) => {
        await call('PUT', '/settings', { vocabulary, retention_days: retention_days ? Number(retention_days) : null });
        tell(true);
        again();
      }}
    >
      <label class="field wide">
        <span>Vocabulary: names and terms as they are written, separated by commas. The recogniser then spells them like this.</span>
        <textarea name="vocabulary" rows={5} maxLength={2000} defaultValue={value.vocabulary} />
      </label>
      <label class="field">
        <span>Delete transcripts after this many days (empty: never)</span>
        <input name="retention_days" type="number" min={1} max={36500} defaultValue={value.retention_days ?? ''} />
      </label>
      {saved && (
        <span class="good" role="status">
          Saved
        </span>
      )}
    </Form>
  );
}
