import { clock, day } from '../show.ts';
import { useLoaded } from '../use.ts';
import { Problem, Waiting } from './basics.tsx';

interface Hits {
  items: { id: string; title: string; created_at: string; matches: { segment_id: number; start: number; text: string }[] }[];
  scanned: number;
  complete: boolean;
}

/** Transcripts in which somebody says `text`, with the turns. */
export function Found({ text }: { text: string }) {
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
