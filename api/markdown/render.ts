import { Marked, type MarkedExtension, type Tokens } from 'marked';

export interface Rendering {
  /**
   * `page`: our own text, with working links. `report`: text that may contain untrusted speech or writing; its addresses are shown, not
   * linked.
   */
  kind: 'page' | 'report';
  /** URL for a time such as [01:12], in seconds; null: none. */
  seek?: (seconds: number) => string | null;
  /** Id of a page's first heading. */
  id?: string;
}

/**
 * Markdown (CommonMark with the tables and lists of GitHub) as HTML that can do nothing: raw HTML is shown as text, pictures by their description, links of pages lead
 * to http, https, mailto or this site. Runs on the server (guides) and in the browser (reports).
 */
export function renderMarkdown(text: string, rendering: Rendering): string {
  const { kind } = rendering;
  const marked = new Marked({ gfm: true, breaks: kind === 'report', async: false }, inert(rendering), times(rendering));
  return marked.parse(text) as string;
}

/** Escapes text for HTML. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function inert({ kind, id }: Rendering): MarkedExtension {
  let first = true;
  return {
    renderer: {
      html: ({ raw }) => escaped(raw),
      image: ({ text }) => escaped(text),
      checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
      code: ({ text, lang }) =>
        `<pre tabindex="0"><code${lang ? ` data-language="${escaped(lang.split(' ')[0]!)}"` : ''}>${escaped(text)}</code></pre>\n`,
      heading({ tokens, depth }) {
        const level = kind === 'report' ? 3 : Math.min(depth + 1, 6); // heading levels continue those of the page around them
        const name = first && id ? ` id="${escaped(id)}"` : '';
        first = false;
        return `<h${level}${name}>${this.parser.parseInline(tokens)}</h${level}>\n`;
      },
      link({ href, text, tokens }) {
        const label = this.parser.parseInline(tokens);
        if (kind === 'report') return text === href || href === `mailto:${text}` ? label : `${label} (${escaped(href)})`;
        return /^(https?:|mailto:|[#/])/i.test(href) ? `<a href="${escaped(href)}">${label}</a>` : label;
      },
    },
  };
}

/** Converts times such as [01:12] and [1:02:03] to links. */
function times({ seek }: Rendering): MarkedExtension {
  if (!seek) return {};
  const time = {
    name: 'time',
    level: 'inline' as const,
    start: (text: string) => text.search(/\[\d{1,3}:\d{2}/),
    tokenizer(text: string) {
      const raw = /^\[(?:\d{1,3}:)?\d{1,3}:\d{2}\]/.exec(text)?.[0];
      return raw ? { type: 'time', raw } : undefined;
    },
    renderer({ raw }: Tokens.Generic) {
      const address = seek(
        raw
          .slice(1, -1)
          .split(':')
          .reduce((seconds, part) => 60 * seconds + Number(part), 0),
      );
      return address === null ? escaped(raw) : `<a href="${escaped(address)}">${escaped(raw)}</a>`;
    },
  };
  return { extensions: [time] };
}
