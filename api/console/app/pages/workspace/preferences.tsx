import { useState } from 'preact/hooks';
import { call } from '../../client.ts';
import { Form, Problem, Waiting } from '../../parts/basics.tsx';
import { useLoaded } from '../../use.ts';

/** Vocabulary for speech recognition, and the retention of transcripts. */
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
        <span>Vocabulary: names and terms, spelled as they should appear, separated by commas.</span>
        <textarea name="vocabulary" rows={5} maxLength={2000} defaultValue={value.vocabulary} />
      </label>
      <label class="field">
        <span>Delete transcripts after this many days (leave empty for never)</span>
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
