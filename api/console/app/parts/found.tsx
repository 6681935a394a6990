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
  scanned: number;
  complete: boolean;
}

/** Transcripts in which somebody says `text`, with the turns. */
export function Found({ text }: { text: string }) {
  const { value, error, again } = useLoaded<Hits>(`/search?q=${encodeURIComponent(text)}`);
  if (error) return <Problem error={error} again={again} />;
  if (!value) return <Waiting />;
  return (
    <section aria-label="Search results">
      <p class="quiet" role="status">
        Found in {value.items.length} of {value.scanned} transcripts
        {value.complete ? '' : '; there are more than could be searched at once: add words'}
      </p>
      {value.items.length === 0 && (
        <p class="empty">
          <b>No matches</b>in the transcripts that you may see.
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
