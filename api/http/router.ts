import { ApiError, notFound } from '../contract/errors.ts';
import { segments } from './request.ts';
import type { Method, Route } from './route.ts';

export interface Match {
  route: Route;
  params: Readonly<Record<string, string>>;
}

interface Node {
  fixed: Map<string, Node>;
  any: Node | null;
  rest: Node | null;
  routes: Map<Method, { route: Route; names: readonly string[] }>;
}

const node = (): Node => ({ fixed: new Map(), any: null, rest: null, routes: new Map() });

/**
 * Builds a tree of path segments from the route table. The returned function finds the route of a request: fixed segments take precedence
 * over `{name}`, which takes precedence over `{name...}`. It throws 404 for an unknown path, 405 with `Allow` for a known path with another
 * method. HEAD is served by GET.
 */
export function routeTable(routes: readonly Route[]): (method: string, path: string) => Match {
  const root = node();
  for (const route of routes) add(root, route);
  return (method, path) => {
    const parts = segments(path);
    const values: string[] = [];
    const found = parts && find(root, parts, 0, values);
    if (!found) throw notFound();
    const entry = found.routes.get((method === 'HEAD' ? 'GET' : method) as Method);
    if (!entry) {
      const allow = [...found.routes.keys(), ...(found.routes.has('GET') ? ['HEAD'] : [])].join(', ');
      throw new ApiError('method_not_allowed', { headers: { allow } });
    }
    return { route: entry.route, params: Object.fromEntries(entry.names.map((name, i) => [name, values[i]!])) };
  };
}

function add(root: Node, route: Route): void {
  const names: string[] = [];
  let at = root;
  for (const part of route.path.split('/').slice(1)) {
    const name = /^\{(\w+)(\.\.\.)?\}$/.exec(part);
    if (name) names.push(name[1]!);
    if (name?.[2]) at = at.rest ??= node();
    else if (name) at = at.any ??= node();
    else {
      const next = at.fixed.get(part) ?? node();
      at.fixed.set(part, next);
      at = next;
    }
  }
  if (at.routes.has(route.method)) throw new Error(`Cannot mount ${route.method} ${route.path}: two routes are declared for it`);
  at.routes.set(route.method, { route, names });
}

function find(at: Node, parts: readonly string[], i: number, values: string[]): Node | null {
  if (i === parts.length) return at.routes.size ? at : null;
  const part = parts[i]!;
  const kept = values.length;
  const fixed = at.fixed.get(part);
  const found = fixed && find(fixed, parts, i + 1, values);
  if (found) return found;
  if (at.any && part) {
    values.push(part);
    const deeper = find(at.any, parts, i + 1, values);
    if (deeper) return deeper;
    values.length = kept;
  }
  if (at.rest?.routes.size) {
    values.push(parts.slice(i).join('/'));
    return at.rest;
  }
  return null;
}
