import type { Operation, Response } from './document.ts';

/** What the HTTP parser answers by itself, in HTML and on any path, before a route is found. */
const UNPARSED: Readonly<Record<string, string>> = {
  400: 'The request is no valid HTTP/1.1: of the HTTP parser, before any check',
  431: 'The head of the request is too large: of the HTTP parser, before any check',
  505: 'The request is not HTTP/1.1: of the HTTP parser, before any check',
};

/** The answers of an operation with those of the parser. */
export function withUnparsed(responses: Operation['responses']): Operation['responses'] {
  const more = Object.entries(UNPARSED).map(([status, description]): [string, Response] => {
    const own = responses[status] ?? { description: '', headers: {} };
    const content = { ...own.content, 'text/html': { schema: { type: 'string' } } };
    return [status, { ...own, description: [own.description, description].filter(Boolean).join('\n\n'), content }];
  });
  return { ...responses, ...Object.fromEntries(more) };
}

/** True for an answer that comes from the parser alone. */
export function isUnparsed(response: Response): boolean {
  return Object.keys(response.content ?? {}).join() === 'text/html';
}
