import { useEffect, useState } from 'preact/hooks';
import { Problem, Waiting } from '../parts/basics.tsx';
import { Uploads } from '../parts/uploads.tsx';
import { clock, day, language, length, STATUS } from '../show.ts';
import type { Item, Page, Project } from '../types.ts';
import { go, useLoaded } from '../use.ts';

const PAGE = 20;

/** Uploads, search, and the transcriptions with every filter of the API. Filters live in the address, so that a list can be shared. */
export function List({ query }: { query: URLSearchParams }) {
  const status = query.get('status') ?? 'completed';
  const offset = Number(query.get('offset')) || 0;
  const asked = new URLSearchParams(query);
  asked.delete('q');
  const path = `/transcriptions?${asked}${asked.size ? '&' : ''}limit=${PAGE}`;
  const { value, error, again } = useLoaded<Page<Item>>(path);
  const pending = useLoaded<Page<Item>>('/transcriptions?status=processing&limit=100');
  const waiting = useLoaded<Page<Item>>('/transcriptions?status=queued&limit=100');
  const projects = useLoaded<{ items: Project[] }>('/projects');
  const [options, setOptions] = useState({ language: 'auto', project_id: '', speakers_count: '', ai_metadata: false });
  const busy = (pending.value?.total ?? 0) + (waiting.value?.total ?? 0);
  const refresh = () => {
    again();
    pending.again();
    waiting.again();
  };
  useEffect(() => {
    const timer = setInterval(refresh, busy ? 3_000 : 15_000);
    return () => clearInterval(timer);
  }, [busy > 0]);

  const filter = (name: string, wanted: string) => {
    const next = new URLSearchParams(query);
    next.delete('offset');
    if (wanted) next.set(name, wanted);
    else next.delete(name);
    go('/', next);
  };
  const uploadQuery = () => {
    const wanted = new URLSearchParams({ language: options.language, ai_metadata: String(options.ai_metadata) });
    if (options.project_id) wanted.set('project_id', options.project_id);
    if (options.speakers_count) wanted.set('speakers_count', options.speakers_count);
    return wanted.toString();
  };

  return (
    <>
      <h1>Transcripts</h1>
      <Uploads query={uploadQuery} onDone={refresh} />
      <details class="options">
        <summary>For these uploads</summary>
        <div class="row">
          <label class="field">
            <span>Language</span>
            <input
              value={options.language}
              size={6}
              onInput={(event) => setOptions({ ...options, language: (event.currentTarget as HTMLInputElement).value || 'auto' })}
            />
          </label>
          <label class="field">
            <span>Speakers, if known</span>
            <input
              type="number"
              min={1}
              max={20}
              value={options.speakers_count}
              onInput={(event) => setOptions({ ...options, speakers_count: (event.currentTarget as HTMLInputElement).value })}
            />
          </label>
          <ProjectChoice
            label="Project"
            projects={projects.value?.items ?? []}
            value={options.project_id}
            choose={(project_id) => setOptions({ ...options, project_id })}
          />
          <label class="check">
            <input
              type="checkbox"
              checked={options.ai_metadata}
              onChange={(event) => setOptions({ ...options, ai_metadata: (event.currentTarget as HTMLInputElement).checked })}
            />
            Title, summary and topics
          </label>
        </div>
      </details>

      <search class="row filters">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            filter('q', String(new FormData(event.currentTarget as HTMLFormElement).get('q') ?? ''));
          }}
        >
          <label class="field">
            <span>Search in what was said</span>
            <input name="q" type="search" minLength={2} defaultValue={query.get('q') ?? ''} />
          </label>
        </form>
        <label class="field">
          <span>Status</span>
          <select value={status} onChange={(event) => filter('status', (event.currentTarget as HTMLSelectElement).value)}>
            {Object.entries(STATUS).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <ProjectChoice
          label="In project"
          projects={projects.value?.items ?? []}
          value={query.get('project_id') ?? ''}
          choose={(id) => filter('project_id', id)}
        />
        <Text label="Language" name="language" query={query} filter={filter} />
        <Text label="External id" name="external_id" query={query} filter={filter} />
        <Text label="From" name="date_from" type="date" query={query} filter={filter} />
        <Text label="To" name="date_to" type="date" query={query} filter={filter} />
        <MetadataFilter query={query} />
        <label class="field">
          <span>Order</span>
          <select
            value={query.get('sort') ?? '-created_at'}
            onChange={(event) => filter('sort', (event.currentTarget as HTMLSelectElement).value)}
          >
            <option value="-created_at">newest first</option>
            <option value="created_at">oldest first</option>
            <option value="-duration">longest first</option>
            <option value="duration">shortest first</option>
          </select>
        </label>
      </search>

      <Problem error={error} />
      {query.get('q') ? <Found text={query.get('q')!} /> : null}
      {!query.get('q') && status === 'completed' && busy > 0 && (
        <Table items={[...(pending.value?.items ?? []), ...(waiting.value?.items ?? [])]} label="In progress" />
      )}
      {!query.get('q') && (value ? <Table items={value.items} label={STATUS[status] ?? status} /> : <Waiting />)}
      {!query.get('q') && value && value.total > PAGE && (
        <nav class="row" aria-label="Pages">
          <button type="button" disabled={offset === 0} onClick={() => go('/', withOffset(query, offset - PAGE))}>
            Earlier
          </button>
          <span class="quiet">
            {offset + 1}–{offset + value.items.length} of {value.total}
          </span>
          <button
            type="button"
            disabled={offset + value.items.length >= value.total}
            onClick={() => go('/', withOffset(query, offset + PAGE))}
          >
            Later
          </button>
        </nav>
      )}
    </>
  );
}

function withOffset(query: URLSearchParams, offset: number): URLSearchParams {
  const next = new URLSearchParams(query);
  next.set('offset', String(Math.max(0, offset)));
  return next;
}

function ProjectChoice({
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

function Text({
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
function MetadataFilter({ query }: { query: URLSearchParams }) {
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

function Table({ items, label }: { items: Item[]; label: string }) {
  if (!items.length) return <p class="quiet">Nothing here.</p>;
  return (
    <div class="scroll">
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">Title</th>
            <th scope="col">Length</th>
            <th scope="col">Language</th>
            <th scope="col">Speakers</th>
            <th scope="col">Author</th>
            <th scope="col">External id</th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={item.id}>
              <td>
                <a href={`#/t/${item.id}`}>{item.title ?? 'Untitled'}</a>
                {item.summary && <div class="quiet clip">{item.summary}</div>}
              </td>
              <td>{length(item.duration_seconds)}</td>
              <td>{language(item.language)}</td>
              <td>{item.speakers.length || '–'}</td>
              <td>{item.author.name ?? item.author.email}</td>
              <td>{item.external_id ?? ''}</td>
              <td>{day(item.created_at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface Hits {
  items: { id: string; title: string; created_at: string; matches: { segment_id: number; start: number; text: string }[] }[];
  scanned: number;
  complete: boolean;
}

function Found({ text }: { text: string }) {
  const { value, error } = useLoaded<Hits>(`/search?q=${encodeURIComponent(text)}`);
  if (error) return <Problem error={error} />;
  if (!value) return <Waiting />;
  return (
    <section aria-label="Search results">
      <p class="quiet" role="status">
        {value.items.length} found in {value.scanned} transcripts
        {value.complete ? '' : '; not all were searched: add a filter or more words'}
      </p>
      {value.items.map((hit) => (
        <article class="card" key={hit.id}>
          <h2>
            <a href={`#/t/${hit.id}`}>{hit.title}</a> <span class="quiet">{day(hit.created_at)}</span>
          </h2>
          <ul class="plain">
            {hit.matches.map((match) => (
              <li key={match.segment_id}>
                <a href={`#/t/${hit.id}?turn=${match.segment_id}`}>{clock(match.start)}</a> {match.text}
              </li>
            ))}
          </ul>
        </article>
      ))}
    </section>
  );
}
