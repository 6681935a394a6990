import { useEffect, useState } from 'preact/hooks';
import { call } from '../client.ts';
import { day } from '../show.ts';

interface Notices {
  items: { id: number; transcription_id: string; title: string; created_at: string; read: boolean }[];
  unread: number;
}

/** "Ready" notices of the person's own transcriptions. */
export function Bell() {
  const [notices, set] = useState<Notices>({ items: [], unread: 0 });
  const load = () => call<Notices>('GET', '/notifications').then(set, () => {});
  useEffect(() => {
    load();
    const timer = setInterval(load, 20_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <details
      class="bell"
      onToggle={(event) =>
        (event.currentTarget as HTMLDetailsElement).open || (notices.unread && call('POST', '/notifications/read', {}).then(load))
      }
    >
      <summary>
        Ready
        {notices.unread ? (
          <b class="count">
            {notices.unread}
            <span class="hidden"> new</span>
          </b>
        ) : null}
      </summary>
      <ul>
        {notices.items.length === 0 && <li class="quiet">Nothing yet</li>}
        {notices.items.map((notice) => (
          <li key={notice.id} class={notice.read ? '' : 'new'}>
            <a href={`#/t/${notice.transcription_id}`}>{notice.title}</a> <span class="quiet">{day(notice.created_at)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
