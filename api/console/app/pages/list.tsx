import { useEffect, useState } from 'preact/hooks';
import { call, poller, type Session } from '../client.ts';
import { Problem, Waiting } from '../parts/basics.tsx';
import { Filters } from '../parts/filters.tsx';
import { Found } from '../parts/found.tsx';
import { Table } from '../parts/table.tsx';
import { Uploads } from '../parts/uploads.tsx';
import { STAGE, STATUS } from '../show.ts';
import type { Item, Page, Transcription } from '../types.ts';
import type { UploadQueue } from '../uploading.ts';
import { go, useLoaded } from '../use.ts';

const PAGE = 20;
const BUSY_MS = 4_000;
const IDLE_MS = 20_000;
const FOLLOWED = 5; // maximum number of files whose progress is displayed

/** Uploads, search, and the transcriptions by status with every filter of the API. */
export function List({ query, session, uploads }: { query: URLSearchParams; session: Session; uploads: UploadQueue }) {
  const status = query.get('status') ?? 'completed';
  const offset = Number(query.get('offset')) || 0;
  const filters = new URLSearchParams([...query].filter(([name]) => !['q', 'status', 'offset'].includes(name)));
  const { value, error, again } = useLoaded<Page<Item>>(`/transcriptions?${filters}&status=${status}&offset=${offset}&limit=${PAGE}`);
  const [totals, count] = useTotals(filters.toString());
  const busy = (totals.processing ?? 0) + (totals.queued ?? 0) > 0;
  const refresh = () => {
    again();
    count();
  };
  useEffect(() => {
    const timer = setInterval(refresh, busy ? BUSY_MS : IDLE_MS);
    return () => clearInterval(timer);
  }, [busy, filters.toString()]);

  return (
    <>
      <div class="head">
        <h1>Transcripts</h1>
      </div>
      {session.scopes.includes('uploads:write') && <Uploads uploads={uploads} onDone={refresh} />}
      <Filters query={query} />
      {query.get('q') ? (
        <Found text={query.get('q')!} filters={filters} />
      ) : (
        <>
          {status === 'completed' && busy && <UnderWay />}
          <nav class="tabs" aria-label="Status">
            {Object.entries(STATUS)
              .filter(([name]) => name !== 'insufficient_balance' || totals[name] || status === name)
              .map(([name, label]) => (
                <a key={name} href={`#/?${withStatus(query, name)}`} aria-current={name === status ? 'page' : undefined}>
                  {label} {totals[name] !== undefined && <span class="quiet figure">{totals[name]}</span>}
                </a>
              ))}
          </nav>
          <Problem error={error} again={again} />
          {!value && !error && <Waiting />}
          {value && value.items.length > 0 && <Table items={value.items} label={STATUS[status] ?? status} />}
          {value && value.items.length === 0 && <Empty filtered={filters.size > 0} status={status} />}
          {value && value.total > PAGE && <Pages query={query} offset={offset} page={value} />}
        </>
      )}
    </>
  );
}

/** Number of transcriptions per status under the same filters. */
function useTotals(filters: string): [Partial<Record<string, number>>, () => void] {
  const [totals, set] = useState<Partial<Record<string, number>>>({});
  const count = () => {
    for (const status of Object.keys(STATUS))
      call<Page<Item>>('GET', `/transcriptions?${filters}&status=${status}&limit=1`).then(
        ({ total }) => set((before) => ({ ...before, [status]: total })),
        () => {},
      );
  };
  useEffect(count, [filters]);
  return [totals, count];
}

/** Files being transcribed, with their progress. */
function UnderWay() {
  const { value, again } = useLoaded<Page<Item>>(`/transcriptions?status=processing&limit=${FOLLOWED}`);
  useEffect(() => {
    const timer = setInterval(again, BUSY_MS);
    return () => clearInterval(timer);
  }, [again]);
  if (!value?.items.length) return null;
  return (
    <section class="card flush" aria-label="In progress">
      <ul class="plain lines under-way">
        {value.items.map((item) => (
          <Running key={item.id} item={item} />
        ))}
      </ul>
    </section>
  );
}

function Running({ item }: { item: Item }) {
  const [record, set] = useState<Transcription | null>(null);
  useEffect(() => {
    const ask = poller<Transcription>(`/transcriptions/${item.id}`);
    const step = () =>
      ask().then(
        ({ value }) => set(value),
        () => {},
      );
    step();
    const timer = setInterval(step, BUSY_MS);
    return () => clearInterval(timer);
  }, [item.id]);
  const { stage = 'waiting', fraction = 0 } = record?.progress ?? {};
  return (
    <li>
      <a class="grow" href={`#/t/${item.id}`} dir="auto">
        {item.title}
      </a>
      <span class="quiet">{STAGE[stage] ?? stage}</span>
      <progress max={1} value={fraction} aria-label={`Progress of ${item.title}`} />
      <span class="quiet figure">{Math.round(fraction * 100)} %</span>
    </li>
  );
}

function Empty({ filtered, status }: { filtered: boolean; status: string }) {
  if (filtered)
    return (
      <p class="empty">
        <b>Nothing matches these filters</b>Clear one of them to see more.
      </p>
    );
  if (status !== 'completed') return <p class="empty">Nothing here.</p>;
  return (
    <p class="empty">
      <b>No transcripts yet</b>Upload a recording above, or send one with the <a href="/docs/guides">API</a>.
    </p>
  );
}

function Pages({ query, offset, page }: { query: URLSearchParams; offset: number; page: Page<Item> }) {
  const to = (next: number) => () => {
    const address = new URLSearchParams(query);
    address.set('offset', String(Math.max(0, next)));
    go('/', address);
    scrollTo(0, 0);
  };
  const last = offset + page.items.length;
  return (
    <nav class="row middle pages" aria-label="Pages">
      <button type="button" disabled={offset === 0} onClick={to(offset - PAGE)}>
        Previous
      </button>
      <span class="quiet figure">{page.items.length ? `${offset + 1}–${last} of ${page.total}` : `none of ${page.total} here`}</span>
      <button type="button" disabled={last >= page.total} onClick={to(offset + PAGE)}>
        Next
      </button>
    </nav>
  );
}

function withStatus(query: URLSearchParams, status: string): URLSearchParams {
  const next = new URLSearchParams(query);
  next.delete('offset');
  if (status === 'completed') next.delete('status');
  else next.set('status', status);
  return next;
}
