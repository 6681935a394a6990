import { readdirSync, readFileSync } from 'node:fs';
import { html, shell } from './reference-page.ts';

const FOLDER = new URL('../../docs/guides/', import.meta.url);

/** The texts of `docs/guides`, in the order of their names. */
export function guides(): { name: string; text: string }[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.md'));
  return names.sort().map((name) => ({ name: name.replace(/^\d+-|\.md$/g, ''), text: readFileSync(new URL(name, FOLDER), 'utf8') }));
}

/** All guides as one page. */
export function guidesPage(): string {
  const all = guides();
  const title = (text: string) => /^# (.+)/.exec(text)![1]!;
  const links = all.map(({ name, text }) => `<li><a href="#${name}">${html(title(text))}</a></li>`);
  const sections = all.map(({ name, text }) => `<section aria-labelledby="${name}">${render(text, name)}</section>`);
  return shell(
    'Longhand guides',
    `<h1>Guides and recipes</h1>
<p>Every endpoint, field and code is in the <a href="/docs">reference</a>.</p>
<nav aria-label="Guides"><ul>${links.join('')}</ul></nav>
${sections.join('\n')}`,
  );
}

/** The Markdown that the guides use: one heading, paragraphs with `code`, fenced blocks. */
function render(text: string, id: string): string {
  return text
    .split(/^(```\w.*\n[\s\S]*?\n```)$/m)
    .flatMap((part, index) => (index % 2 ? [part] : part.split(/\n{2,}/)))
    .filter((part) => part.trim())
    .map((part) => {
      if (part.startsWith('```')) return `<pre><code>${html(part.split('\n').slice(1, -1).join('\n'))}</code></pre>`;
      if (part.trim().startsWith('# ')) return `<h2 id="${id}">${html(part.trim().slice(2))}</h2>`;
      return `<p>${html(part.trim()).replace(/`([^`]+)`/g, '<code>$1</code>')}</p>`;
    })
    .join('\n');
}
