import { useEffect, useState } from 'preact/hooks';
import { Problem, Waiting } from '../parts/basics.tsx';
import { MetadataFilter, ProjectChoice, TextFilter } from '../parts/filters.tsx';
import { Found } from '../parts/found.tsx';
import { Table } from '../parts/table.tsx';
import { Uploads } from '../parts/uploads.tsx';
import { STATUS } from '../show.ts';
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
        <TextFilter label="Language" name="language" query={query} filter={filter} />
        <TextFilter label="External id" name="external_id" query={query} filter={filter} />
        <TextFilter label="From" name="date_from" type="date" query={query} filter={filter} />
        <TextFilter label="To" name="date_to" type="date" query={query} filter={filter} />
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
