import { clock, day, FAILURE, language, left, length, STAGE, STATUS, when } from '../show.ts';
import type { Row } from '../types.ts';
import type { Upload, UploadQueue } from '../uploading.ts';
import { Going } from './going.tsx';
import { Marked } from './marked.tsx';
import { Sending } from './sending.tsx';

interface Props {
  rows: Row[];
  /** Files that are not in the list yet. */
  sending: Upload[];
  uploads: UploadQueue;
  label: string;
  /** Search terms. */
  search: string;
  chosen: ReadonlySet<string>;
  choose: (id: string, on: boolean) => void;
}

/** One row per file, from its upload to its transcript; cards on narrow screens. */
export function Table({ rows, sending, uploads, label, search, chosen, choose }: Props) {
  return (
    <div class="card flush">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label={label}>
        <table class="list">
          <caption class="unseen">{label}</caption>
          <thead>
            <tr>
              <th scope="col">
                <span class="unseen">Selected</span>
              </th>
              <th scope="col">Recording</th>
              <th scope="col">Status</th>
              <th scope="col">Length</th>
              <th scope="col">Language</th>
              <th scope="col">Author</th>
              <th scope="col">Uploaded</th>
            </tr>
          </thead>
          <tbody>
            {sending.map((upload) => (
              <Sending key={upload.key} upload={upload} uploads={uploads} />
            ))}
            {rows.map((row) => (
              <One key={row.id} {...{ row, search }} on={chosen.has(row.id)} choose={(on) => choose(row.id, on)} />
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

function One({ row, search, on, choose }: { row: Row; search: string; on: boolean; choose: (on: boolean) => void }) {
  const title = row.title ?? 'Untitled';
  const find = search ? `&find=${encodeURIComponent(search)}` : '';
  return (
    <tr class={on ? 'chosen' : ''}>
      <td class="pick">
        <input
          type="checkbox"
          aria-label={`Select ${title}`}
          checked={on}
          onChange={(event) => choose((event.currentTarget as HTMLInputElement).checked)}
        />
      </td>
      <td class="what">
        <a class="open" href={`#/t/${row.id}${find && `?${find.slice(1)}`}`} dir="auto">
          {title}
        </a>
        {row.hits.length === 0 && (row.summary ?? row.opening) && (
          <div class="quiet clip" dir="auto">
            {row.summary ?? row.opening}
          </div>
        )}
        <Hits {...{ row, search, find }} />
        <div class="ids">
          {row.speakers.map(({ id, name }, index) => (
            <span key={id} class={`chip voice-${index % 8}`} dir="auto">
              <span class="dot" />
              {name}
            </span>
          ))}
          {row.project && <bdi class="chip">{row.project.name}</bdi>}
          {callerOf(row) && <span class="chip">{callerOf(row)}</span>}
          {row.external_id && <code class="chip">{row.external_id}</code>}
        </div>
      </td>
      <td class="state">
        <State row={row} />
      </td>
      <td class="figure">{row.duration_seconds === null ? '' : length(row.duration_seconds)}</td>
      <td>{row.language ? language(row.language) : ''}</td>
      <td>
        <bdi>{row.author.name ?? row.author.email}</bdi>
      </td>
      <td>
        <time dateTime={row.created_at} title={day(row.created_at)}>
          {when(row.created_at)}
        </time>
      </td>
    </tr>
  );
}

/** Search hits: speaker, time and text. */
function Hits({ row, search, find }: { row: Row; search: string; find: string }) {
  const names = new Map(row.speakers.map(({ id, name }) => [id, name]));
  if (!row.hits.length) return null;
  return (
    <ul class="plain hit-list">
      {row.hits.map((hit) => (
        <li key={hit.segment} dir="auto">
          <a href={`#/t/${row.id}?turn=${hit.segment}${find}`}>
            {clock(hit.start)} {names.get(hit.speaker_id ?? '') ?? ''}
          </a>{' '}
          <Marked text={hit.text} search={search} />
        </li>
      ))}
    </ul>
  );
}

function State({ row }: { row: Row }) {
  if (row.status === 'completed') return <span class="chip good">{STATUS.completed}</span>;
  const soon = left(row.seconds_left);
  if (row.status === 'queued')
    return (
      <>
        <span class="chip">{STATUS.queued}</span> <div class="quiet reason">{soon}</div>
      </>
    );
  if (row.progress) {
    const { stage, fraction } = row.progress;
    return (
      <Going label={`Progress of ${row.title}`} value={fraction}>
        {[STAGE[stage] ?? stage, soon].filter(Boolean).join(', ')}
      </Going>
    );
  }
  return (
    <>
      <span class="chip bad">{STATUS[row.status]}</span>
      {row.error_code && <div class="quiet reason">{FAILURE[row.error_code] ?? row.error_code}</div>}
    </>
  );
}

/** The caller, if a telephone system sent one. */
function callerOf({ metadata }: Row): string | null {
  const caller = metadata?.caller;
  return typeof caller === 'string' || typeof caller === 'number' ? String(caller) : null;
}
