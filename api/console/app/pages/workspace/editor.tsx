import { useEffect, useState } from 'preact/hooks';
import { call } from '../../client.ts';
import { Action, Field, Options } from '../../parts/basics.tsx';
import { Prose } from '../../parts/prose.tsx';
import { NO_REPORT } from '../../show.ts';
import type { Item, Page } from '../../types.ts';
import { useRetried } from '../../use.ts';

export interface Custom {
  id: string;
  slug: string;
  name: string;
  description: string | null;
  scope: 'workspace' | 'personal';
  status: 'draft' | 'published';
  prompt: string;
  owner: { id: string; email: string } | null;
}

interface Props {
  template: Partial<Custom>;
  owner: boolean;
  done: () => void;
  cancel: () => void;
}

/** Editor of a report template, with a preview. */
export function Editor({ template, owner, done, cancel }: Props) {
  const [before] = useState(() => ({
    name: '',
    slug: '',
    prompt: '',
    scope: 'personal',
    ...template,
    description: template.description ?? '',
  }));
  const [draft, set] = useState(before);
  const field = (name: keyof typeof draft) => ({
    value: String(draft[name] ?? ''),
    onInput: (event: Event) => set({ ...draft, [name]: (event.currentTarget as HTMLInputElement).value }),
  });
  const save = async () => {
    const { name, slug, prompt, scope, description } = draft;
    const body = { name, prompt, scope, description: description || null, ...(slug && { slug }) };
    // The template may be published, or changed elsewhere, while it is being edited: only what was edited here is sent.
    const edited = Object.entries(body).filter(([field]) => draft[field as keyof typeof body] !== before[field as keyof typeof body]);
    if (!template.id) await call('POST', '/templates', { ...body, status: 'draft' });
    else if (edited.length) await call('PATCH', `/templates/${template.id}`, Object.fromEntries(edited));
    done();
  };
  return (
    <section class="card" aria-label="Template">
      <h2>{template.id ? 'Edit template' : 'New template'}</h2>
      <div class="row">
        <Field label="Name">
          <input {...field('name')} dir="auto" maxLength={100} />
        </Field>
        <Field label="Slug">
          <input {...field('slug')} dir="auto" maxLength={64} placeholder="derived from the name" />
        </Field>
        <Field label="For">
          <select {...field('scope')}>
            <option value="personal">me</option>
            {owner && <option value="workspace">the whole workspace</option>}
          </select>
        </Field>
      </div>
      <label class="field wide">
        <span>Description</span>
        <input {...field('description')} dir="auto" maxLength={300} />
      </label>
      <label class="field wide">
        <span>What the report should contain</span>
        <textarea
          {...field('prompt')}
          dir="auto"
          rows={8}
          maxLength={8000}
          placeholder="List every promise about a delivery date, with who made it."
        />
      </label>
      <Preview name={draft.name} prompt={draft.prompt} />
      <p class="row">
        <Action kind="main" run={save}>
          Save
        </Action>
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      </p>
    </section>
  );
}

interface Written {
  id: string;
  status: string;
  error_code: string | null;
  text: string | null;
  writer: string | null;
}

const POLL_MS = 1_000;

/** Previews the report for a short sample or a transcript. */
function Preview({ name, prompt }: { name: string; prompt: string }) {
  const talks = useRetried<Page<Item>>('/transcriptions?status=completed&limit=30');
  const [talk, choose] = useState('');
  const [written, tell] = useState<Written | null>(null);
  const [error, fail] = useState<Error | null>(null);
  const waiting = written !== null && ['queued', 'processing'].includes(written.status);
  useEffect(() => {
    if (!waiting) return;
    const lost = (failure: Error) => {
      tell(null);
      fail(failure);
    };
    const timer = setTimeout(() => call<Written>('GET', `/templates/preview/${written.id}`).then(tell, lost), POLL_MS);
    return () => clearTimeout(timer);
  }, [written]);
  return (
    <section aria-label="Preview" aria-live="polite">
      <div class="row">
        <label class="field grow">
          <span>Try it on</span>
          <select value={talk} onChange={(event) => choose((event.currentTarget as HTMLSelectElement).value)}>
            <option value="">a short sample of a sales call</option>
            <Options of={talks?.items.map(({ id, title }) => [id, title])} />
          </select>
        </label>
        <Action
          disabled={waiting}
          run={async () => {
            fail(null);
            tell(await call<Written>('POST', '/templates/preview', { name: name || 'Draft', prompt, transcription_id: talk || null }));
          }}
        >
          {waiting ? 'Being written…' : 'Preview'}
        </Action>
      </div>
      {error && <p class="problem">{error.message}</p>}
      {written?.status === 'failed' && <p class="problem">{NO_REPORT[written.error_code ?? ''] ?? written.error_code}</p>}
      {written?.text && (
        <div class="card sample">
          <p class="quiet">
            Written by{' '}
            {written.writer === 'built-in'
              ? 'the built-in writer, which quotes the transcript and needs no language model'
              : written.writer}
          </p>
          <Prose text={written.text} />
        </div>
      )}
    </section>
  );
}
