import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { LANGUAGE_CHOICES } from '../show.ts';
import type { Project } from '../types.ts';
import { go, useRetried } from '../use.ts';
import { Field, Options, Problem } from './basics.tsx';
import { Icon } from './icons.tsx';

const NAMES = ['project_id', 'language', 'external_id', 'date_from', 'date_to'];
const ofMetadata = (name: string) => name.startsWith('metadata.');
const isFilter = (name: string) => NAMES.includes(name) || ofMetadata(name);

/** Every filter of the list. They are part of the URL, so that a list can be shared. */
export function Filters({ query }: { query: URLSearchParams }) {
  const projects = useRetried<{ items: Project[] }>('/projects');
  const active = [...query.keys()].filter(isFilter).length;
  const [open, show] = useState(active > 0);
  const set = (name: string) => (event: Event) => go('/', changed(query, name, (event.currentTarget as HTMLInputElement).value.trim()));
  const text = (name: string, label: string, type = 'text') => (
    <TextFilter {...{ label, type }} value={query.get(name) ?? ''} set={(value) => go('/', changed(query, name, value))} />
  );
  return (
    <search class="filters">
      <div class="row">
        <Search value={query.get('q') ?? ''} set={(value) => go('/', changed(query, 'q', value))} />
        <select aria-label="Order" value={query.get('sort') ?? '-created_at'} onChange={set('sort')}>
          <option value="-created_at">newest first</option>
          <option value="created_at">oldest first</option>
          <option value="-duration">longest first</option>
          <option value="duration">shortest first</option>
        </select>
        <button type="button" aria-expanded={open} onClick={() => show(!open)}>
          <Icon of="filter" /> Filters {active > 0 && <span class="count">{active}</span>}
        </button>
        {active > 0 && (
          <button
            type="button"
            class="bare"
            onClick={() => go('/', new URLSearchParams([...query].filter(([name]) => !isFilter(name) && name !== 'offset')))}
          >
            Clear
          </button>
        )}
      </div>
      {open && (
        <div class="more">
          <Field label="Project">
            <select value={query.get('project_id') ?? ''} onChange={set('project_id')}>
              <option value="">any</option>
              <Options of={projects?.items.map(({ id, name }) => [id, name])} />
            </select>
          </Field>
          <Field label="Language">
            <select value={query.get('language') ?? ''} onChange={set('language')}>
              <option value="">any</option>
              <Options of={LANGUAGE_CHOICES} />
            </select>
          </Field>
          {text('date_from', 'From (UTC)', 'date')}
          {text('date_to', 'To (included, UTC)', 'date')}
          {text('external_id', 'External ID')}
          <MetadataFilter query={query} />
        </div>
      )}
    </search>
  );
}

/** An input that shows a value of the URL when that changes elsewhere. Until it is told `set`, it keeps what is typed, however often the list is loaded. */
function useTyped(value: string, set: (value: string) => void) {
  const input = useRef<HTMLInputElement>(null);
  const known = useRef('');
  useLayoutEffect(() => {
    if (value !== known.current) input.current!.value = value;
    known.current = value;
  }, [value]);
  const tell = () => {
    known.current = input.current!.value.trim();
    set(known.current);
  };
  return { input, tell };
}

interface TypedProps {
  value: string;
  set: (value: string) => void;
}

function Search({ value, set }: TypedProps) {
  const { input, tell } = useTyped(value, set);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        tell();
      }}
    >
      <input
        ref={input}
        name="q"
        type="search"
        dir="auto"
        minLength={2}
        aria-label="Search transcripts"
        placeholder="Search transcripts"
        onInput={() => value && !input.current!.value && tell()}
      />
    </form>
  );
}

function TextFilter({ label, type, value, set }: TypedProps & { label: string; type: string }) {
  const { input, tell } = useTyped(value, set);
  return (
    <Field label={label}>
      <input ref={input} type={type} dir="auto" onChange={tell} />
    </Field>
  );
}

/** The URL with a filter added or removed, on the first page. */
function changed(query: URLSearchParams, name: string, value: string): URLSearchParams {
  const next = new URLSearchParams(query);
  next.delete('offset');
  if (value) next.set(name, value);
  else next.delete(name);
  return next;
}

/** Metadata as `key=value`, one at a time, all of which must match. The value may hold anything. */
function MetadataFilter({ query }: { query: URLSearchParams }) {
  const given = [...query].filter(([name]) => ofMetadata(name));
  const [problem, tell] = useState<Error | null>(null);
  return (
    <div class="row middle">
      <Field label="Metadata, as key=value">
        <input
          placeholder="deal=42"
          dir="auto"
          onChange={(event) => {
            const input = event.currentTarget as HTMLInputElement;
            const typed = input.value.trim();
            const [, key, value] = /^([^=]+)=(.+)$/.exec(typed) ?? [];
            tell(typed && !value ? new Error(`“${typed}” needs a key, = and a value, as in deal=42`) : null);
            if (!key || !value) return;
            go('/', changed(query, `metadata.${key.trim()}`, value.trim()));
            input.value = '';
          }}
        />
      </Field>
      {given.map(([name, value]) => (
        <button
          key={name}
          type="button"
          class="small"
          aria-label={`Remove filter ${name.slice(9)}`}
          onClick={() => go('/', changed(query, name, ''))}
        >
          {name.slice(9)}={value} <Icon of="close" />
        </button>
      ))}
      <Problem error={problem} />
    </div>
  );
}
