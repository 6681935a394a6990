import { Icon } from './icons.tsx';
import { Menu } from './menu.tsx';

const FORMATS = [
  ['Markdown', 'md', 'export'],
  ['Plain text', 'txt', 'export'],
  ['JSON', 'json', 'export'],
  ['SubRip subtitles', 'srt', 'subtitles'],
  ['WebVTT subtitles', 'vtt', 'subtitles'],
] as const;

/** Every format to download, and the printer. Subtitles exist once the transcript does. */
export function Export({ id, ready }: { id: string; ready: boolean }) {
  return (
    <Menu
      label={
        <>
          <Icon of="download" /> Export
        </>
      }
    >
      {FORMATS.filter(([, , path]) => ready || path === 'export').map(([name, format, path]) => (
        <a class="choice" key={format} href={`/v1/app/transcriptions/${id}/${path}?format=${format}`} download>
          {name} <code class="quiet">.{format}</code>
        </a>
      ))}
      <hr />
      <button type="button" class="choice" onClick={() => setTimeout(print)}>
        Print…
      </button>
    </Menu>
  );
}
