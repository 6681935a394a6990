import { useState } from 'preact/hooks';
import { call } from '../../client.ts';
import { Action, Problem } from '../../parts/basics.tsx';
import { Risky } from '../../parts/dialog.tsx';
import { useLoaded } from '../../use.ts';
import { type Custom, Editor } from './editor.tsx';

/** Report templates, built-in and custom. */
export function Templates({ owner }: { owner: boolean }) {
  const { value, error, again } = useLoaded<{ items: Custom[]; builtin: { slug: string; name: string; description: string }[] }>(
    '/templates',
  );
  const [editing, edit] = useState<Partial<Custom> | null>(null);
  return (
    <>
      <p>
        <button type="button" class="main" onClick={() => edit({})}>
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
      <Problem error={error} again={again} />
      {value && value.items.length > 0 && (
        <div class="card lines">
          {value.items.map((template) => (
            <article key={template.id}>
              <div class="grow">
                <b dir="auto">{template.name}</b> <code class="quiet">{template.slug}</code>
                <div class="quiet">
                  {template.scope === 'workspace' ? 'For the whole workspace' : 'Personal'}
                  {template.description ? ` · ${template.description}` : ''}
                </div>
              </div>
              <span class={`chip ${template.status === 'published' ? 'good' : ''}`}>{template.status}</span>
              {(template.scope === 'personal' || owner) && <Tools template={template} edit={edit} changed={again} />}
            </article>
          ))}
        </div>
      )}
      <section class="card">
        <h2>Built-in</h2>
        <ul class="columns plain">
          {value?.builtin.map((template) => (
            <li key={template.slug}>
              {template.name} <code class="quiet">{template.slug}</code>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

function Tools({ template, edit, changed }: { template: Custom; edit: (template: Custom) => void; changed: () => void }) {
  const publish = template.status === 'draft';
  return (
    <>
      <button type="button" class="small" onClick={() => edit(template)}>
        Edit
      </button>
      <Action
        kind="small"
        run={() => call('PATCH', `/templates/${template.id}`, { status: publish ? 'published' : 'draft' }).then(changed)}
      >
        {publish ? 'Publish' : 'Back to draft'}
      </Action>
      <Risky label="Delete" title={`Delete ${template.name}?`} run={() => call('DELETE', `/templates/${template.id}`).then(changed)}>
        Reports written with it stay. This cannot be undone.
      </Risky>
    </>
  );
}
