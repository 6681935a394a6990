import { day, language, length, when } from '../show.ts';
import type { Item } from '../types.ts';

/** Transcriptions as rows; as cards on narrow screens. */
export function Table({ items, label }: { items: Item[]; label: string }) {
  return (
    <div class="card flush">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label={label}>
        <table class="list">
          <caption class="unseen">{label}</caption>
          <thead>
            <tr>
              <th scope="col">Title</th>
              <th scope="col">Length</th>
              <th scope="col">Language</th>
              <th scope="col">Speakers</th>
              <th scope="col">Author</th>
              <th scope="col">Uploaded</th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr key={item.id}>
                <td>
                  <a href={`#/t/${item.id}`} dir="auto">
                    {item.title ?? 'Untitled'}
                  </a>
                  {item.summary && (
                    <div class="quiet clip" dir="auto">
                      {item.summary}
                    </div>
                  )}
                  <div class="ids">
                    {item.project && <span class="chip">{item.project.name}</span>}
                    {item.external_id && <code class="chip">{item.external_id}</code>}
                  </div>
                </td>
                <td class="figure">{length(item.duration_seconds)}</td>
                <td>{language(item.language)}</td>
                <td class="figure">{item.speakers.length ? many(item.speakers.length) : ''}</td>
                <td>{item.author.name ?? item.author.email}</td>
                <td>
                  <time dateTime={item.created_at} title={day(item.created_at)}>
                    {when(item.created_at)}
                  </time>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

const many = (speakers: number) => (speakers === 1 ? '1 speaker' : `${speakers} speakers`);
