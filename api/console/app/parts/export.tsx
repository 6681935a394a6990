import { useState } from 'preact/hooks';
import { Icon } from './icons.tsx';
import { Menu } from './menu.tsx';

const FORMATS = [
  ['Word', 'docx', 'documents'],
  ['PDF', 'pdf', 'documents'],
  ['Markdown', 'md', 'export'],
  ['Plain text', 'txt', 'export'],
  ['JSON', 'json', 'export'],
  ['SubRip subtitles', 'srt', 'subtitles'],
  ['WebVTT subtitles', 'vtt', 'subtitles'],
] as const;

const address = (id: string, format: string, path: string, times: boolean) =>
  `/v1/app/transcriptions/${id}/${path}${path === 'documents' ? `/${format}?times=${times}` : `?format=${format}`}`;

/** Every format to download, and the printer. Subtitles and documents exist once the transcript does. */
export function Export({ id, ready }: { id: string; ready: boolean }) {
  const [times, setTimes] = useState(true);
  return (
    <Menu
      label={
        <>
          <Icon of="download" /> Export
        </>
      }
    >
      {FORMATS.filter(([, , path]) => ready || path === 'export').map(([name, format, path]) => (
        <a class="choice" key={format} href={address(id, format, path, times)} download>
          {name} <code class="quiet">.{format}</code>
        </a>
      ))}
      {ready && (
        <label class="check told">
          <input type="checkbox" checked={times} onChange={(event) => setTimes((event.currentTarget as HTMLInputElement).checked)} /> Times
          in Word and PDF
        </label>
      )}
      <hr />
      <button type="button" class="choice" onClick={() => setTimeout(print)}>
        Print…
      </button>
    </Menu>
  );
}
