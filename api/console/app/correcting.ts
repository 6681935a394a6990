import { call, Refused } from './client.ts';

/** A correction as the service tells it. */
export interface Correction {
  version: number;
  at: string;
  by: { id: string | null; name: string | null; email: string | null };
  kind: 'title' | 'text' | 'speaker' | 'merge';
  segment?: number;
  segments?: number[];
  before: string | null;
  after: string | null;
  undoes?: number;
}

export interface Changes {
  /** Of the newest; what a correction made now has seen. */
  version: number;
  items: Correction[];
}

export const loadChanges = (id: string) => call<Changes>('GET', `/transcriptions/${id}/changes`);

/** Corrects something, from what was seen at `version`. */
export const correct = (id: string, version: number, wanted: object) => call('PATCH', `/transcriptions/${id}/text`, { version, ...wanted });

/** The change of another person that stands in the way; null: it is another refusal. */
export function conflictOf(error: unknown): Correction | null {
  const change = error instanceof Refused && error.status === 409 ? error.detail?.change : undefined;
  return (change as Correction | undefined) ?? null;
}

export function authorOf({ by }: Correction): string {
  return by.name ?? by.email ?? 'The operator';
}
