import { useState } from 'preact/hooks';
import { LANGUAGE_CHOICES, size } from '../show.ts';
import type { WorkspaceInfo } from '../types.ts';
import type { UploadQueue } from '../uploading.ts';
import { useRetried } from '../use.ts';
import { Field, Options } from './basics.tsx';
import { Icon } from './icons.tsx';

/** Where files are dropped or chosen, with their options. They then stand at the top of the list. */
export function Uploads({ uploads }: { uploads: UploadQueue }) {
  const [over, setOver] = useState(false);
  const [options, setOptions] = useState({ language: 'auto', project_id: '', speakers_count: '', ai_metadata: false });
  const places = useRetried<{ items: { id: string; name: string }[]; kept_days: number }>('/projects/upload');
  const limits = useRetried<WorkspaceInfo>('/workspace')?.limits;
  const most = limits ? `, up to ${size(limits.max_file_size_mb! * 1_048_576)} and ${limits.max_duration_hours} hours each` : '';
  const set = (name: keyof typeof options) => (event: Event) => {
    const input = event.currentTarget as HTMLInputElement;
    setOptions({ ...options, [name]: input.type === 'checkbox' ? input.checked : input.value });
  };
  const add = (files: Iterable<File>) => {
    const wanted = Object.entries(options).filter(([, value]) => value !== '');
    uploads.add(files, new URLSearchParams(wanted.map(([name, value]) => [name, String(value)])).toString());
  };
  return (
    <section aria-label="Upload">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is a second way to the button inside */}
      <div
        class={`drop ${over ? 'over' : ''}`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          add(event.dataTransfer?.files ?? []);
        }}
      >
        <label class="button main">
          <Icon of="upload" /> Choose recordings
          <input
            type="file"
            multiple
            class="unseen"
            onChange={(event) => {
              const input = event.currentTarget as HTMLInputElement;
              add([...(input.files ?? [])]);
              input.value = '';
            }}
          />
        </label>
        <p>
          or drop them here: audio or video{most}. {places && fate(places.kept_days)}
        </p>
        <details>
          <summary>Language, speakers, project</summary>
          <div class="row">
            <Field label="Language">
              <select value={options.language} onChange={set('language')}>
                <option value="auto">Detect automatically</option>
                <Options of={LANGUAGE_CHOICES} />
              </select>
            </Field>
            <Field label="Speakers, if known">
              <input type="number" min={1} max={20} value={options.speakers_count} onInput={set('speakers_count')} />
            </Field>
            <Field label="Project">
              <select value={options.project_id} onChange={set('project_id')}>
                <option value="">none</option>
                <Options of={places?.items.map(({ id, name }) => [id, name])} />
              </select>
            </Field>
            <label class="check">
              <input type="checkbox" checked={options.ai_metadata} onChange={set('ai_metadata')} />
              Title, summary and topics
            </label>
          </div>
        </details>
      </div>
    </section>
  );
}

/** Sentence about how long a recording is kept. */
function fate(days: number): string {
  if (days === 0) return 'Recordings are deleted after transcription.';
  return `Recordings are kept for ${days === 1 ? 'a day' : `${days} days`}.`;
}
