import { lexer, type Token, type Tokens } from 'marked';
import type { Block, Paragraph, Span } from './blocks.ts';

/** Converts a report's Markdown to blocks of a document. Links and images are reduced to their text, raw HTML is shown verbatim. */
export function prose(markdown: string): Block[] {
  return blocksOf(lexer(markdown, { gfm: true, breaks: true }), 0);
}

function blocksOf(tokens: readonly Token[], depth: number): Block[] {
  return tokens.flatMap((token): Block[] => {
    switch (token.type) {
      case 'heading':
        return paragraphs(token.tokens ?? [], 'subheading');
      case 'list':
        return items(token as Tokens.List, depth);
      case 'table':
        return [tableOf(token as Tokens.Table)];
      case 'blockquote':
        return blocksOf(token.tokens ?? [], depth);
      case 'code':
        return (token as Tokens.Code).text.split('\n').map((line) => text([{ text: clean(line) }]));
      case 'space':
      case 'hr':
      case 'def':
        return [];
      default:
        return paragraphs('tokens' in token && token.tokens ? token.tokens : [token], 'text');
    }
  });
}

function text(spans: Span[]): Paragraph {
  return { kind: 'text', spans };
}

/** Inline tokens as paragraphs, split at line breaks. */
function paragraphs(tokens: readonly Token[], kind: 'text' | 'subheading'): Paragraph[] {
  const lines: Span[][] = [[]];
  for (const span of spansOf(tokens, false)) {
    if (span === BREAK) lines.push([]);
    else lines.at(-1)!.push(span);
  }
  return lines.filter((spans) => spans.some((span) => span.text.trim())).map((spans) => ({ kind, spans }));
}

const BREAK: Span = { text: '' };

function spansOf(tokens: readonly Token[], bold: boolean): Span[] {
  return tokens.flatMap((token): Span[] => {
    if (token.type === 'br') return [BREAK];
    if (token.type === 'checkbox') return [];
    if (token.type !== 'image' && 'tokens' in token && token.tokens) return spansOf(token.tokens, bold || token.type === 'strong');
    const plain = inline('text' in token && typeof token.text === 'string' && token.type !== 'html' ? token.text : token.raw);
    return plain ? [bold ? { text: plain, bold } : { text: plain }] : [];
  });
}

/** Removes line breaks and control characters, and composes accents. */
export function clean(text: string): string {
  return text
    .replace(/[\s\u0085\u2028\u2029]+/g, ' ')
    .replace(/[\u0000-\u001f\u007f-\u009f\ufeff\ufffe\uffff]|\p{Cs}/gu, '')
    .normalize('NFC')
    .trim();
}

/** As `clean`, but keeps leading and trailing spaces. */
function inline(piece: string): string {
  const inner = clean(piece);
  if (!inner) return /\s/.test(piece) ? ' ' : '';
  return `${/^\s/.test(piece) ? ' ' : ''}${inner}${/\s$/.test(piece) ? ' ' : ''}`;
}

function items(list: Tokens.List, depth: number): Block[] {
  return list.items.flatMap((item, index): Block[] => {
    const mark = item.task ? (item.checked ? '[x]' : '[ ]') : list.ordered ? `${Number(list.start || 1) + index}.` : '•';
    const [first, ...others] = blocksOf(item.tokens, depth + 1);
    if (!first || first.kind === 'table' || first.kind === 'item')
      return [{ kind: 'item', spans: [], mark, depth }, ...[first ?? []].flat(), ...others];
    const rest = others.map((block): Block => (block.kind === 'text' ? { ...block, kind: 'item', mark: '', depth } : block));
    return [{ kind: 'item', spans: first.spans, mark, depth }, ...rest];
  });
}

function tableOf({ header, rows }: Tokens.Table): Block {
  const cells = (row: readonly Tokens.TableCell[], bold: boolean) =>
    header.map((_, column) => spansOf(row[column]?.tokens ?? [], bold).map((span) => (span === BREAK ? { text: ' ' } : span)));
  return { kind: 'table', rows: [cells(header, true), ...rows.map((row) => cells(row, false))] };
}
