import type { Project } from '../types.ts';
import { go } from '../use.ts';

export function ProjectChoice({
  label,
  projects,
  value,
  choose,
}: {
  label: string;
  projects: Project[];
  value: string;
  choose: (id: string) => void;
}) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => choose((event.currentTarget as HTMLSelectElement).value)}>
        <option value="">–</option>
        {projects.map((project) => (
          <option key={project.id} value={project.id}>
            {project.name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** One filter of the list, taken when the field is left. */
export function TextFilter({
  label,
  name,
  type = 'text',
  query,
  filter,
}: {
  label: string;
  name: string;
  type?: string;
  query: URLSearchParams;
  filter: (name: string, value: string) => void;
}) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type={type}
        size={10}
        value={query.get(name) ?? ''}
        onChange={(event) => filter(name, (event.currentTarget as HTMLInputElement).value.trim())}
      />
    </label>
  );
}

/** One metadata filter as `key=value`; several may be in the address. */
export function MetadataFilter({ query }: { query: URLSearchParams }) {
  const given = [...query].filter(([name]) => name.startsWith('metadata.'));
  return (
    <label class="field">
      <span>Metadata, as key=value</span>
      <input
        size={14}
        value={given.map(([name, value]) => `${name.slice(9)}=${value}`).join(' ')}
        onChange={(event) => {
          const next = new URLSearchParams([...query].filter(([name]) => !name.startsWith('metadata.') && name !== 'offset'));
          const text = (event.currentTarget as HTMLInputElement).value.trim();
          const at = text.indexOf('=');
          if (at > 0) next.set(`metadata.${text.slice(0, at)}`, text.slice(at + 1));
          go('/', next);
        }}
      />
    </label>
  );
}
