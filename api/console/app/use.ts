import type { RefObject } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { call, poller, Refused, renewed } from './client.ts';
import { type Changes, loadChanges } from './correcting.ts';
import type { Transcription } from './types.ts';

export interface Loaded<T> {
  value: T | null;
  error: Error | null;
  /** Reloads. */
  again: () => void;
}

/**
 * Loads `path` from the API, again when the path changes. Null: loads nothing. The result of another path is never shown: it would be taken
 * for that of this one, for example if this one cannot be loaded. When `version` changes, it loads again and keeps the result meanwhile.
 * An answer is shown unless a later one is: those of a service that is slower than the page reloads would otherwise never be.
 */
export function useLoaded<T>(path: string | null, version = ''): Loaded<T> {
  const [state, set] = useState<{ value: T | null; error: Error | null; from: string | null }>({ value: null, error: null, from: null });
  const [round, next] = useState(0);
  const requests = useRef({ wanted: path, made: 0, shown: 0 });
  requests.current.wanted = path;
  const again = useCallback(() => next((n) => n + 1), []);
  useEffect(() => {
    if (path === null) return;
    const number = ++requests.current.made;
    const arrived = (show: () => void) => {
      if (requests.current.wanted !== path || number < requests.current.shown) return;
      requests.current.shown = number;
      show();
    };
    call<T>('GET', path).then(
      (value) => arrived(() => set({ value, error: null, from: path })),
      (error) => arrived(() => set((before) => ({ value: before.from === path ? before.value : null, error, from: path }))),
    );
  }, [path, version, round]);
  const { value, error } = state.from === path ? state : { value: null, error: null };
  useRenewed(error, again);
  return { value, error, again };
}

/** Reloads what failed, once the person has signed in again. */
function useRenewed(error: Error | null, again: () => void): void {
  useEffect(() => {
    if (!error) return;
    renewed.add(again);
    return () => void renewed.delete(again);
  }, [error, again]);
}

/** Loads `path` from the API every `periodMs`. */
export function usePolled<T>(path: string, periodMs: number): Loaded<T> {
  const loaded = useLoaded<T>(path);
  const { again } = loaded;
  useEffect(() => {
    const timer = setInterval(again, periodMs);
    return () => clearInterval(timer);
  }, [again, periodMs]);
  return loaded;
}

/** Loads `path` for a part of the page that shows no errors: what fails for the moment is loaded again until it succeeds. */
export function useRetried<T>(path: string | null, version?: string): T | null {
  const { value, error, again } = useLoaded<T>(path, version);
  useEffect(() => {
    if (!passing(error)) return;
    const timer = setTimeout(again, RETRY_MS);
    return () => clearTimeout(timer);
  }, [error, again]);
  return value;
}

/** Opens a dialog above the page; when it goes, the focus returns to where it was. */
export function useModal(): RefObject<HTMLDialogElement> {
  const dialog = useRef<HTMLDialogElement>(null);
  // Not after the next frame: a key pressed in between would go to the page.
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    dialog.current!.showModal();
    return () => before?.focus();
  }, []);
  return dialog;
}

/** The button that opens an editor in its own place. It gets the focus back when the editor closes, unless the person has gone elsewhere meanwhile. */
export function useReturn(editing: boolean): RefObject<HTMLButtonElement> {
  const button = useRef<HTMLButtonElement>(null);
  const was = useRef(false);
  useLayoutEffect(() => {
    if (was.current && !editing && document.activeElement === document.body) button.current?.focus();
    was.current = editing;
  }, [editing]);
  return button;
}

const POLL_MS = 2_000;
export const RETRY_MS = 4_000;

/**
 * A transcription with its corrections, reloaded while it is being processed. The corrections are loaded first: what others change in between is
 * then newer than what is shown, and nobody overwrites it unseen.
 */
export function useRecord(id: string, words: boolean) {
  const [record, show] = useState<Transcription | null>(null);
  const replaced = useRef(0); // number of times
  const [changes, setChanges] = useState<Changes>({ version: 0, items: [] });
  const [error, setError] = useState<Error | null>(null);
  const [round, next] = useState(0);
  useEffect(() => {
    const ask = poller<Transcription>(`/transcriptions/${id}${words ? '?words=true' : ''}`);
    let timer = 0;
    let current = true;
    let seen: Changes | null = null;
    const step = async () => {
      try {
        seen ??= await loadChanges(id);
        const before = replaced.current;
        const { value, changed } = await ask();
        if (!current) return;
        if (replaced.current !== before) return next((n) => n + 1); // the response may be older than what replaced the record
        setChanges(seen);
        if (changed) show(value);
        if (changed && value.status === 'completed') seen = null; // there may be new ones
        setError(null);
        if (unfinished(value)) timer = window.setTimeout(step, POLL_MS);
      } catch (failure) {
        if (!current) return;
        setError(failure as Error);
        if (passing(failure)) timer = window.setTimeout(step, POLL_MS);
      }
    };
    step();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [id, words, round]);
  const replace = (newer: Transcription) => {
    replaced.current++;
    show(newer);
  };
  const again = useCallback(() => next((n) => n + 1), []);
  useRenewed(error, again);
  return { record, changes, error, replace, again };
}

/** Whether a failure may be temporary: the service or the connection is unavailable or overloaded. */
export const passing = (failure: unknown) =>
  failure instanceof Refused ? failure.status >= 500 || failure.status === 429 : failure !== null;

const unfinished = (record: Transcription) =>
  ['queued', 'processing'].includes(record.status) ||
  record.prompt_results.some((report) => ['queued', 'processing'].includes(report.status));

/** The part of the URL after #, as `{ path, query }`; follows the browser's history. */
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

/** Names the browser's tab. */
export function useTitle(title: string | null | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · Longhand` : 'Longhand';
  }, [title]);
}

/**
 * A navigation whose current entry is scrolled into view before it is painted: on a phone it may lie beside the screen.
 * `current`: everything that its place depends on.
 */
export function useNavigation(current: string): RefObject<HTMLElement> {
  const nav = useRef<HTMLElement>(null);
  useLayoutEffect(() => nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }), [current]);
  return nav;
}

export function go(path: string, query?: URLSearchParams): void {
  const text = query?.toString();
  location.hash = text ? `${path}?${text}` : path;
}
