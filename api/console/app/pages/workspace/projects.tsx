import { call } from '../../client.ts';
import { Action, Field, Form, Options, Problem } from '../../parts/basics.tsx';
import type { Member, Project } from '../../types.ts';
import { useLoaded } from '../../use.ts';

/** Projects and who works in them. */
export function Projects({ owner }: { owner: boolean }) {
  const { value, error, again } = useLoaded<{ items: Project[] }>('/projects');
  const people = useLoaded<{ items: Member[] }>(owner ? '/workspace/members' : null);
  return (
    <>
      <section class="card">
        <h2>New project</h2>
        <Form label="Create project" send={({ name }) => call('POST', '/projects', { name }).then(again)}>
          <Field label="Name">
            <input name="name" required maxLength={200} />
          </Field>
        </Form>
      </section>
      <Problem error={error} again={again} />
      {value?.items.length === 0 && (
        <p class="empty">
          <b>No projects yet</b>A project shares its transcripts with everybody in it.
        </p>
      )}
      {value?.items.map((project) => (
        <details class="card report" key={project.id}>
          <summary>{project.name}</summary>
          <div>
            <p>
              <a href={`#/?project_id=${project.id}`}>Its transcripts</a>
            </p>
            <ProjectMembers id={project.id} people={people.value?.items ?? []} />
          </div>
        </details>
      ))}
    </>
  );
}

function ProjectMembers({ id, people }: { id: string; people: Member[] }) {
  const { value, error, again } = useLoaded<{ items: { id: string; email: string; name: string | null; role: string }[] }>(
    `/projects/${id}/members`,
  );
  const put = (member: string, role: string) => call('PUT', `/projects/${id}/members/${member}`, { role }).then(again);
  return (
    <>
      <Problem error={error} />
      <ul class="plain">
        {value?.items.map((member) => (
          <li class="row middle" key={member.id}>
            <span>
              {member.name ?? member.email} <span class="chip">{member.role}</span>
            </span>
            {people.length > 0 && (
              <Action kind="small" run={() => put(member.id, 'none')}>
                Remove
              </Action>
            )}
          </li>
        ))}
      </ul>
      {people.length > 0 && (
        <Form label="Add" send={({ member = '', role = 'viewer' }) => put(member, role)}>
          <Field label="Member">
            <select name="member">
              <Options of={people.map(({ id, name, email }) => [id, name ?? email])} />
            </select>
          </Field>
          <Field label="Role">
            <select name="role">
              <option>viewer</option>
              <option>editor</option>
              <option>owner</option>
            </select>
          </Field>
        </Form>
      )}
    </>
  );
}
