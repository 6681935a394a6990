import { day, language, length } from '../show.ts';
import type { Item } from '../types.ts';

/** Transcriptions as rows. */
export function Table({ items, label }: { items: Item[]; label: string }) {
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
