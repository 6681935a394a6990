import { useState } from 'preact/hooks';
import { call } from '../../client.ts';
import { Form, Problem, Waiting } from '../../parts/basics.tsx';
import { useLoaded } from '../../use.ts';

interface Settings {
  vocabulary: string;
  retention_days: number | null;
  keep_recordings_days: number;
  /** The operator's maximum. */
  keep_recordings_most: number;
}

/** Vocabulary for speech recognition, and how long transcripts and recordings are kept. */
export function Preferences() {
  const loaded = useLoaded<Settings>('/settings');
  const [kept, keep] = useState<Omit<Settings, 'keep_recordings_most'> | null>(null); // what was saved here
  const [saved, tell] = useState(false);
  const { error, again } = loaded;
  const value = loaded.value && { ...loaded.value, ...kept };
  if (error) return <Problem error={error} again={again} />;
  if (!value) return <Waiting />;
  const most = value.keep_recordings_most;
  return (
    <Form
      kind="card row"
      label="Save"
      stale={() => tell(false)}
      send={async ({ vocabulary, retention_days, keep_recordings_days }) => {
        const wanted = {
          vocabulary,
          retention_days: retention_days ? Number(retention_days) : null,
          keep_recordings_days: Number(keep_recordings_days ?? 0),
        };
        keep(await call('PUT', '/settings', wanted));
        tell(true);
      }}
    >
      <label class="field wide">
        <span>Vocabulary: names and terms, spelled as they should appear, separated by commas.</span>
        <textarea name="vocabulary" dir="auto" rows={5} maxLength={2000} defaultValue={value.vocabulary} />
      </label>
      <label class="field">
        <span>Delete transcripts after this many days (leave empty for never)</span>
        <input name="retention_days" type="number" min={1} max={36500} defaultValue={value.retention_days ?? ''} />
      </label>
      {most > 0 ? (
        <label class="field">
          <span>Keep recordings for this many days, at most {most} (0 to delete them after transcription)</span>
          <input
            name="keep_recordings_days"
            type="number"
            min={0}
            max={most}
            required
            defaultValue={Math.min(most, value.keep_recordings_days)}
          />
        </label>
      ) : (
        <p class="quiet wide">Recordings are deleted after transcription: this installation keeps none.</p>
      )}
      {saved && (
        <span class="good" role="status">
          Saved
        </span>
      )}
    </Form>
  );
}
