import { useState } from 'preact/hooks';
import { call } from '../../client.ts';
import { Action, Field, Problem } from '../../parts/basics.tsx';
import { useLoaded } from '../../use.ts';

interface Custom {
  id: string;
  slug: string;
  name: string;
  description: string | null;
  scope: 'workspace' | 'personal';
  status: 'draft' | 'published';
  prompt: string;
  owner: { id: string; email: string } | null;
}

/** Report templates: the built-in ones, and those that people write. */
export function Templates({ owner }: { owner: boolean }) {
  const { value, error, again } = useLoaded<{ items: Custom[]; builtin: { slug: string; name: string; description: string }[] }>(
    '/templates',
  );
  const [editing, edit] = useState<Partial<Custom> | null>(null);
  return (
    <>
      <p>
        <button type="button" class="main" onClick={() => edit({ scope: 'personal', status: 'draft' })}>
          New template
        </button>
      </p>
      {editing && (
        <Editor
          key={editing.id ?? 'new'}
          template={editing}
          owner={owner}
          done={() => {
            edit(null);
            again();
          }}
          cancel={() => edit(null)}
        />
      )}
      <Problem error={error} />
      {value?.items.map((template) => (
        <article class="card row" key={template.id}>
          <div>
            <b>{template.name}</b> <code>{template.slug}</code>
            <div class="quiet">
              {template.scope === 'workspace' ? 'for the whole workspace' : 'personal'}, {template.status}
              {template.description ? ` · ${template.description}` : ''}
            </div>
          </div>
          <button type="button" class="small" onClick={() => edit(template)}>
            Edit
          </button>
          <Action
            kind="small"
            run={() =>
              call('PATCH', `/templates/${template.id}`, { status: template.status === 'draft' ? 'published' : 'draft' }).then(again)
            }
          >
            {template.status === 'draft' ? 'Publish' : 'Back to draft'}
          </Action>
          <Action kind="small danger" run={() => call('DELETE', `/templates/${template.id}`).then(again)}>
            Delete
          </Action>
        </article>
      ))}
      <h2>Built in</h2>
      <ul class="columns">
        {value?.builtin.map((template) => (
          <li key={template.slug}>
            {template.name} <code>{template.slug}</code> <span class="quiet">{template.description}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Editor({ template, owner, done, cancel }: { template: Partial<Custom>; owner: boolean; done: () => void; cancel: () => void }) {
  const [draft, set] = useState({ name: '', slug: '', prompt: '', description: '', scope: 'personal', status: 'draft', ...template });
  const field = (name: keyof typeof draft) => ({
    value: String(draft[name] ?? ''),
    onInput: (event: Event) => set({ ...draft, [name]: (event.currentTarget as HTMLInputElement).value }),
  });
  const save = async () => {
    const { name, slug, prompt, scope, status } = draft;
    const body = { name, prompt, scope, status, description: draft.description || null, ...(slug ? { slug } : {}) };
    await (template.id ? call('PATCH', `/templates/${template.id}`, body) : call('POST', '/templates', body));
    done();
  };
  return (
    <section class="card" aria-label="Template">
      <div class="row">
        <Field label="Name">
          <input {...field('name')} maxLength={100} />
        </Field>
        <Field label="Slug">
          <input {...field('slug')} maxLength={64} placeholder="made from the name" />
        </Field>
        <Field label="For">
          <select {...field('scope')}>
            <option value="personal">me</option>
            {owner && <option value="workspace">the whole workspace</option>}
          </select>
        </Field>
      </div>
      <Field label="Description">
        <input {...field('description')} maxLength={300} />
      </Field>
      <Field label="What the report should hold">
        <textarea {...field('prompt')} rows={8} maxLength={8000} />
      </Field>
      <h3>Preview</h3>
      <p class="quiet">
        Offered as <b>{draft.name || '…'}</b>. The writer is given these words and the transcript, line by line with times and speakers, and
        answers in the language of the call:
      </p>
      <pre class="preview">{`${draft.prompt || '…'}\n\n[00:00] Speaker 1: Good morning, thank you for calling.\n[00:04] Speaker 2: Hello, I have a question about my order.`}</pre>
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
