import { call } from '../../client.ts';
import { Action, Field, Form, Options, Problem } from '../../parts/basics.tsx';
import type { Member, Project } from '../../types.ts';
import { useLoaded } from '../../use.ts';

/** Projects and their members. */
export function Projects() {
  const { value, error, again } = useLoaded<{ items: Project[] }>('/projects');
  return (
    <>
      <section class="card">
        <h2>New project</h2>
        <Form label="Create project" send={({ name }) => call('POST', '/projects', { name }).then(again)}>
          <Field label="Name">
            <input name="name" dir="auto" required maxLength={200} />
          </Field>
        </Form>
      </section>
      <Problem error={error} again={again} />
      {value?.items.length === 0 && (
        <p class="empty">
          <b>No projects yet</b>A project shares its transcripts with all of its members.
        </p>
      )}
      {value?.items.map((project) => (
        <details class="card report" key={project.id}>
          <summary>
            <bdi>{project.name}</bdi>
          </summary>
          <div>
            <p>
              <a href={`#/?project_id=${project.id}`}>Transcripts</a>
            </p>
            <ProjectMembers id={project.id} />
          </div>
        </details>
      ))}
    </>
  );
}

type Person = Pick<Member, 'id' | 'email' | 'name'>;

function ProjectMembers({ id }: { id: string }) {
  const { value, error, again } = useLoaded<{ items: (Person & { role: string })[]; candidates: Person[] | null }>(
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
              <bdi>{member.name ?? member.email}</bdi> <span class="chip">{member.role}</span>
            </span>
            {value.candidates && (
              <Action kind="small" run={() => put(member.id, 'none')}>
                Remove
              </Action>
            )}
          </li>
        ))}
      </ul>
      {value?.candidates && value.candidates.length > 0 && (
        <Form label="Add" send={({ member = '', role = 'viewer' }) => put(member, role)}>
          <Field label="Member">
            <select name="member">
              <Options of={value.candidates.map(({ id, name, email }) => [id, name ?? email])} />
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
