import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { hashedName, type StaticFile, staticFile } from '../http/static-file.ts';
import { escaped, renderMarkdown } from '../markdown/render.ts';
import { guides } from './guides.ts';

/** Content security policy of the pages: files of this server only. Scalar inserts its styles into the page. */
export const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const SCALAR = new URL('./js/standalone.js', pathToFileURL(createRequire(import.meta.url).resolve('@scalar/fastify-api-reference')));
const own = (name: string) => new URL(`./page/${name}`, import.meta.url);
const SOURCES = {
  'docs.css': own('docs.css'),
  'copy.js': own('copy.js'),
  'highlight.js': own('highlight.js'),
  'reference.js': own('reference.js'),
  'scalar.js': SCALAR,
};

/** The documentation pages and their files, by URL. */
export interface DocsPages {
  reference: string;
  guides: string;
  files: ReadonlyMap<string, StaticFile>;
}

/** Reads everything once. */
export function docsPages(): DocsPages {
  const files = new Map<string, StaticFile>();
  const address = (source: keyof typeof SOURCES) => {
    const plain = readFileSync(SOURCES[source]);
    const name = hashedName(source, plain);
    files.set(name, staticFile(name, plain));
    return `/docs/assets/${name}`;
  };
  const style = address('docs.css');
  const page = { style, scripts: [address('scalar.js'), address('reference.js')] };
  const reading = { style, scripts: [address('copy.js'), address('highlight.js')] };
  return {
    reference: shell({ ...page, title: 'Longhand API reference', path: '/docs', content: '<main id="reference"></main>' }),
    guides: shell({ ...reading, title: 'Longhand guides', path: '/docs/guides', content: allGuides() }),
    files,
  };
}

interface Page {
  title: string;
  path: string;
  style: string;
  scripts: readonly string[];
  content: string;
}

const LINKS = { '/docs': 'Reference', '/docs/guides': 'Guides', '/v1/openapi.json': 'openapi.json' };

function shell({ title, path, style, scripts, content }: Page): string {
  const links = Object.entries(LINKS).map(
    ([to, label]) => `<a href="${to}"${to === path ? ' aria-current="page"' : ''}>${escaped(label)}</a>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="${style}">
${scripts.map((script) => `<script src="${script}" defer></script>`).join('\n')}
</head><body>
<header class="bar"><a class="brand" href="/">Longhand</a>${links.join('')}</header>
${content}
<noscript>This page needs JavaScript. The same description is in <a href="/v1/openapi.json">openapi.json</a>.</noscript>
</body></html>
`;
}

/** Every guide, with a side navigation. */
function allGuides(): string {
  const all = guides();
  const title = (text: string) => /^# (.+)/.exec(text)![1]!;
  const links = all.map(({ name, text }) => `<li><a href="#${name}">${escaped(title(text))}</a></li>`);
  const sections = all.map(
    ({ name, text }) => `<section aria-labelledby="${name}">${renderMarkdown(text, { kind: 'page', id: name })}</section>`,
  );
  return `<div class="guides"><nav aria-label="Guides"><ul>${links.join('')}</ul></nav>
<main><h1>Guides and recipes</h1>
<p>Every endpoint, field and code is in the <a href="/docs">reference</a>.</p>
${sections.join('\n')}
</main></div>`;
}
