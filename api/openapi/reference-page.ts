import { createHash } from 'node:crypto';
import type { Media, OpenApi, Operation, Parameter, Response } from './document.ts';

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 2rem 1rem; }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { background: var(--soft); padding: .8rem; overflow: auto; border-radius: 4px; }
h2 { border-top: 1px solid var(--line); padding-top: 1.5rem; margin-top: 2.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); padding: .35rem .8rem .35rem 0; }
nav ul { columns: 2; padding-left: 1.2rem; }
details { margin: .6rem 0; }
summary { cursor: pointer; }`;

/** What the page may load: its own style, by its hash, and nothing else. */
export const DOCS_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; frame-ancestors 'none'`;

/** The API reference as one page, from the OpenAPI document: no script, no other file. */
export function docsPage(document: OpenApi): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const schemas = Object.entries(document.components.schemas);
  return shell(
    `${document.info.title} API reference`,
    `<h1>${html(document.info.title)} API, version ${html(document.info.version)}</h1>
${prose(document.info.description)}
<p>All paths begin with <code>${html(document.servers[0]!.url)}</code>. Send the key as <code>Authorization: Bearer &lt;API_KEY&gt;</code>.
The same description for programs: <a href="/v1/openapi.json">openapi.json</a>. To begin with: <a href="/docs/guides">guides</a>.</p>
<nav aria-label="Operations"><ul>
${operations.map(({ path, method, operation }) => `<li><a href="#${operation.operationId}"><code>${method} ${html(path)}</code></a></li>`).join('\n')}
</ul></nav>
${operations.map(section).join('\n')}
<h2 id="schemas">Schemas</h2>
${schemas.map(([name, schema]) => `<details id="schema-${html(name)}"><summary><code>${html(name)}</code></summary>${block(schema)}</details>`).join('\n')}`,
  );
}

/** A page of the documentation around its content. */
export function shell(title: string, content: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(title)}</title><style>${STYLE}</style></head><body>
<main>
${content}
</main></body></html>
`;
}

function section({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  return `<section aria-labelledby="${operation.operationId}">
<h2 id="${operation.operationId}"><code>${method} ${html(path)}</code></h2>
<p><strong>${html(operation.summary)}.</strong> ${operation['x-scope'] ? `Permission: <code>${html(operation['x-scope'])}</code>.` : 'No key is needed.'}</p>
${operation.description ? prose(operation.description) : ''}
${operation.parameters.length ? parameterTable(operation.parameters) : ''}
${operation.requestBody ? `<h3>Body</h3>${contents(operation.requestBody.content)}` : ''}
<h3>Answers</h3>
${Object.entries(operation.responses)
  .map(([status, answer]) => answerOf(status, answer))
  .join('\n')}
</section>`;
}

function parameterTable(parameters: readonly Parameter[]): string {
  const rows = parameters.map(
    ({ name, in: place, required, description, schema, example }) =>
      `<tr><td><code>${html(name)}</code></td><td>${place}${required ? ', required' : ''}</td><td><code>${html(typeOf(schema))}</code></td>
<td>${prose(description ?? '')}${example === undefined ? '' : `Example: <code>${html(String(example))}</code>`}</td></tr>`,
  );
  return `<h3>Parameters</h3><table><thead><tr><th>Name</th><th>In</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}

function typeOf(schema: Parameter['schema']): string {
  const choice = schema.enum ? schema.enum.join(' | ') : `${schema.type ?? 'any'}${schema.format ? ` (${schema.format})` : ''}`;
  return schema.default === undefined ? choice : `${choice} = ${schema.default}`;
}

function answerOf(status: string, answer: Response): string {
  return `<details><summary><strong>${status}</strong> ${Number(status) < 400 ? html(answer.description) : codesOf(answer)}</summary>
${Number(status) < 400 ? '' : prose(answer.description)}${answer.content ? contents(answer.content) : ''}</details>`;
}

function codesOf(answer: Response): string {
  return (answer['x-codes'] ?? []).map((code) => `<code>${html(code ?? 'none')}</code>`).join(' ');
}

function contents(content: Record<string, Media>): string {
  return Object.entries(content)
    .map(([type, media]) => {
      const name = media.schema.$ref?.split('/').at(-1);
      const schema = name ? `: <a href="#schema-${html(name)}"><code>${html(name)}</code></a>` : '';
      return `<p><code>${html(type)}</code>${schema}</p>${media.example === undefined ? '' : block(media.example)}`;
    })
    .join('\n');
}

function block(value: unknown): string {
  return `<pre>${html(JSON.stringify(value, null, 2))}</pre>`;
}

/** Paragraphs; what stands between backticks becomes code. */
function prose(text: string): string {
  return text
    .split('\n\n')
    .filter(Boolean)
    .map((paragraph) => `<p>${html(paragraph).replace(/`([^`]+)`/g, '<code>$1</code>')}</p>`)
    .join('\n');
}

export function html(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
