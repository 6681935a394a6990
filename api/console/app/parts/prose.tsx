import { useEffect, useState } from 'preact/hooks';
import type { Rendering } from '../../../markdown/render.ts';
import { checklistTables } from '../checklist.ts';

type Renderer = typeof import('../../../markdown/render.ts');

/** A report, written in Markdown. `seek` gives the address of a time like [01:12]. The renderer is loaded with the first report; until then the text is shown as it is. */
export function Prose({ text, seek }: { text: string; seek?: Rendering['seek'] }) {
  const [renderer, set] = useState<Renderer | null>(null);
  useEffect(() => {
    import('../../../markdown/render.ts').then(set, () => {}); // without it the text can be read all the same
  }, []);
  if (!renderer) return <pre class="prose">{text}</pre>;
  const html = renderer.renderMarkdown(checklistTables(text), { kind: 'report', seek });
  return <div class="prose" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />; // inert: see there
}
