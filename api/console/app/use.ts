import { useCallback, useEffect, useState } from 'preact/hooks';
import { call } from './client.ts';

export interface Loaded<T> {
  value: T | null;
  error: Error | null;
  /** Asks again. */
  again: () => void;
}

/** What the API says under `path`; asked again when the path changes. Null: nothing is asked. */
export function useLoaded<T>(path: string | null): Loaded<T> {
  const [state, set] = useState<{ value: T | null; error: Error | null }>({ value: null, error: null });
  const [round, next] = useState(0);
  useEffect(() => {
    if (path === null) return;
    let current = true;
    call<T>('GET', path).then(
      (value) => current && set({ value, error: null }),
      (error) => current && set((before) => ({ value: before.value, error })),
    );
    return () => {
      current = false;
    };
  }, [path, round]);
  return { ...state, again: useCallback(() => next((n) => n + 1), []) };
}

/** The part of the address behind #, as `{ path, query }`; follows the browser's history. */
export function useRoute(): { path: string; query: URLSearchParams } {
  const [hash, set] = useState(location.hash);
  useEffect(() => {
    const follow = () => set(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  const [path = '/', query = ''] = hash.replace(/^#/, '').split('?');
  return { path: path || '/', query: new URLSearchParams(query) };
}

export function go(path: string, query?: URLSearchParams): void {
  const text = query?.toString();
  location.hash = text ? `${path}?${text}` : path;
}
