import { useEffect, useState } from 'preact/hooks';
import { call, type Session } from '../client.ts';
import { Problem, Waiting } from '../parts/basics.tsx';
import { Bulk } from '../parts/bulk.tsx';
import { Filters } from '../parts/filters.tsx';
import { Table } from '../parts/table.tsx';
import { Uploads } from '../parts/uploads.tsx';
import { STATUS } from '../show.ts';
import type { Item, Page, Row } from '../types.ts';
import type { UploadQueue } from '../uploading.ts';
import { go, useLoaded, useNavigation, useTitle } from '../use.ts';

const PAGE = 20;
const BUSY_MS = 4_000;
const IDLE_MS = 20_000;

/** Every recording from its upload to its transcript, with every filter of the API; a search holds within them. */
export function List({ query, session, uploads }: { query: URLSearchParams; session: Session; uploads: UploadQueue }) {
  useTitle('Transcripts');
  const status = query.get('status');
  const search = query.get('q') ?? '';
  const offset = Number(query.get('offset')) || 0;
  const filters = new URLSearchParams([...query].filter(([name]) => !['q', 'status', 'offset'].includes(name)));
  const asked = new URLSearchParams(query);
  asked.set('limit', String(PAGE));
  if (search) asked.delete('status');
  const { value, error, again } = useLoaded<Page<Row>>(`/listing?${asked}`);
  const [totals, count] = useTotals(filters.toString());
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const sending = useSending(uploads, value?.items);
  const busy = (totals.processing ?? 0) + (totals.queued ?? 0) > 0;
  const refresh = () => {
    again();
    count();
  };
  useEffect(() => uploads.watch((done) => done && refresh()), [uploads, asked.toString()]);
  useEffect(() => {
    const timer = setInterval(refresh, busy ? BUSY_MS : IDLE_MS);
    return () => clearInterval(timer);
  }, [busy, asked.toString()]);
  useEffect(() => choose(new Set()), [filters.toString(), status, search]);
  const last = value ? PAGE * Math.max(0, Math.ceil(value.total / PAGE) - 1) : 0; // offset of the last page
  const beyond = value !== null && offset > last;
  useEffect(() => {
    if (beyond) location.replace(`#/?${withOffset(query, last)}`); // the rows of this page are gone
  }, [beyond]);
  const label = status ? (STATUS[status] ?? status) : 'All';
  const failed = sending.filter(({ state }) => state === 'failed').map(({ key }) => key);

  return (
    <>
      <div class="head">
        <h1>Transcripts</h1>
      </div>
      {session.scopes.includes('uploads:write') && <Uploads uploads={uploads} />}
      <Filters query={query} />
      {!search && <Statuses {...{ query, status, totals }} />}
      <Problem error={error} again={again} />
      {!value && !error && <Waiting />}
      {search && value && (
        <p class="quiet" role="status">
          Found in {value.total} {value.total === 1 ? 'transcript' : 'transcripts'}
        </p>
      )}
      {value && value.items.length > 0 && (
        <Bulk {...{ chosen, session }} shown={value.items.map(({ id }) => id)} set={choose} changed={refresh} />
      )}
      {failed.length > 1 && (
        <button type="button" class="small" onClick={() => uploads.again(failed)}>
          Send all {failed.length} failed again
        </button>
      )}
      {((value && value.items.length > 0) || sending.length > 0) && (
        <Table
          {...{ sending, uploads, search, chosen }}
          rows={value?.items ?? []}
          label={search ? 'Search results' : label}
          choose={(id, on) => choose(new Set(on ? [...chosen, id] : [...chosen].filter((one) => one !== id)))}
        />
      )}
      {value && value.items.length === 0 && !beyond && sending.length === 0 && (
        <Empty {...{ search, status }} filtered={[...filters.keys()].some((name) => name !== 'sort')} />
      )}
      {value && value.total > PAGE && <Pages query={query} offset={offset} page={value} />}
    </>
  );
}

/** The files that are not among these rows yet. Those that are listed are forgotten. */
function useSending(uploads: UploadQueue, rows: Row[] | undefined) {
  const [, redraw] = useState(0);
  useEffect(() => uploads.watch(() => redraw((n) => n + 1)), [uploads]);
  const listed = new Set(rows?.map(({ id }) => id));
  const arrived = uploads.all().filter(({ id }) => id !== null && listed.has(id));
  useEffect(() => {
    for (const { key } of arrived) uploads.hide(key);
  }, [arrived.length]);
  return uploads.all().filter((upload) => !arrived.includes(upload));
}

/** Number of transcriptions per status under the same filters. */
function useTotals(filters: string): [Partial<Record<string, number>>, () => void] {
  const [known, set] = useState<{ of: string; totals: Partial<Record<string, number>> }>({ of: filters, totals: {} });
  const count = () => {
    for (const status of Object.keys(STATUS))
      call<Page<Item>>('GET', `/transcriptions?${filters}&status=${status}&limit=1`).then(
        ({ total }) => set((before) => (before.of === filters ? { of: filters, totals: { ...before.totals, [status]: total } } : before)),
        () => {},
      );
  };
  useEffect(() => {
    set({ of: filters, totals: {} });
    count();
  }, [filters]);
  return [known.of === filters ? known.totals : {}, count];
}

interface StatusesProps {
  query: URLSearchParams;
  status: string | null;
  totals: Partial<Record<string, number>>;
}

function Statuses({ query, status, totals }: StatusesProps) {
  const known = Object.values(totals);
  const nav = useNavigation(`${status} ${known.join(' ')}`); // with its figures an entry is wider
  const all = known.length === Object.keys(STATUS).length ? known.reduce<number>((sum, total) => sum + (total ?? 0), 0) : undefined;
  const tabs: [string | null, string, number | undefined][] = [
    [null, 'All', all],
    ...Object.entries(STATUS)
      .filter(([name]) => name !== 'insufficient_balance' || totals[name] || status === name)
      .map(([name, label]): [string, string, number | undefined] => [name, label, totals[name]]),
  ];
  return (
    <nav ref={nav} class="tabs" aria-label="Status">
      {tabs.map(([name, label, total]) => (
        <a key={label} href={`#/?${withStatus(query, name)}`} aria-current={name === status ? 'page' : undefined}>
          {label} {total !== undefined && <span class="quiet figure">{total}</span>}
        </a>
      ))}
    </nav>
  );
}

function Empty({ filtered, search, status }: { filtered: boolean; search: string; status: string | null }) {
  if (search)
    return (
      <p class="empty">
        <b>No matches</b>in the transcripts that you can see{filtered ? ' within these filters' : ''}.
      </p>
    );
  if (filtered)
    return (
      <p class="empty">
        <b>Nothing matches these filters</b>Clear one of them to see more.
      </p>
    );
  if (status) return <p class="empty">Nothing here.</p>;
  return (
    <p class="empty">
      <b>No transcripts yet</b>Upload a recording above, or send one with the <a href="/docs/guides">API</a>.
    </p>
  );
}

function Pages({ query, offset, page }: { query: URLSearchParams; offset: number; page: Page<Row> }) {
  const to = (next: number) => () => {
    go('/', withOffset(query, Math.max(0, next)));
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

function withOffset(query: URLSearchParams, offset: number): URLSearchParams {
  const next = new URLSearchParams(query);
  next.set('offset', String(offset));
  return next;
}

function withStatus(query: URLSearchParams, status: string | null): URLSearchParams {
  const next = new URLSearchParams(query);
  next.delete('offset');
  if (status === null) next.delete('status');
  else next.set('status', status);
  return next;
}
