import { clock, when } from '../show.ts';
import { useLoaded } from '../use.ts';
import { Problem, Waiting } from './basics.tsx';
import { Marked } from './marked.tsx';

interface Hits {
  items: {
    id: string;
    title: string;
    created_at: string;
    matches: { segment_id: number; start: number; text: string }[];
  }[];
  total: number;
}

const MOST = 50;

/** Transcripts in which somebody says `text`, or whose title holds it, within the other filters, with the turns. */
export function Found({ text, filters }: { text: string; filters: URLSearchParams }) {
  const { value, error, again } = useLoaded<Hits>(`/search?${filters}&q=${encodeURIComponent(text)}&limit=${MOST}`);
  if (error) return <Problem error={error} again={again} />;
  if (!value) return <Waiting />;
  return (
    <section aria-label="Search results">
      <p class="quiet" role="status">
        Found in {value.total} {value.total === 1 ? 'transcript' : 'transcripts'}
        {value.total > value.items.length ? `; the first ${value.items.length} are shown: add words or filters` : ''}
      </p>
      {value.items.length === 0 && (
        <p class="empty">
          <b>No matches</b>in the transcripts that you can see.
        </p>
      )}
      {value.items.map((hit) => (
        <article class="card" key={hit.id}>
          <h2 dir="auto">
            <a href={`#/t/${hit.id}?find=${encodeURIComponent(text)}`}>{hit.title}</a> <span class="quiet">{when(hit.created_at)}</span>
          </h2>
          <ul class="plain hit-list">
            {hit.matches.map((match) => (
              <li key={match.segment_id} dir="auto">
                <a href={`#/t/${hit.id}?turn=${match.segment_id}&find=${encodeURIComponent(text)}`}>{clock(match.start)}</a>{' '}
                <Marked text={match.text} search={text} />
              </li>
            ))}
          </ul>
        </article>
      ))}
    </section>
  );
}
