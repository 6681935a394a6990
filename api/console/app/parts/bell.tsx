import { useEffect, useState } from 'preact/hooks';
import { call } from '../client.ts';
import { when } from '../show.ts';
import { Icon } from './icons.tsx';
import { Menu } from './menu.tsx';

interface Notices {
  items: { id: number; transcription_id: string | null; title: string; created_at: string; read: boolean }[];
  unread: number;
}

const POLL_MS = 20_000;

/** Notices about the person's finished transcriptions; opening the panel marks them as read. */
export function Bell() {
  const [notices, set] = useState<Notices>({ items: [], unread: 0 });
  const load = () => call<Notices>('GET', '/notifications').then(set, () => {});
  useEffect(() => {
    load();
    const timer = setInterval(load, POLL_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <Menu
      kind="bare icon"
      name={notices.unread ? `Ready: ${notices.unread} new` : 'Ready'}
      label={
        <>
          <Icon of="bell" /> {notices.unread > 0 && <span class="count">{notices.unread}</span>}
        </>
      }
      onClose={() => notices.unread && call('POST', '/notifications/read', {}).then(load, () => {})}
    >
      {notices.items.length === 0 && <p class="told quiet">You'll be notified here when a recording is ready.</p>}
      {notices.items.map((notice) => (
        <a class="choice" key={notice.id} href={notice.transcription_id ? `#/t/${notice.transcription_id}` : '#/workspace'}>
          <span dir="auto">{notice.read ? notice.title : <b>{notice.title}</b>}</span>
          <span class="quiet">{when(notice.created_at)}</span>
        </a>
      ))}
    </Menu>
  );
}
